import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, Expectation } from '../../ports/key-value-table.ts';
import type { Amount } from '../amount.ts';
import { numberOf } from '../table/attribute-values.ts';
import { decodeSettings, encodeSettings, type BucketSettings } from './bucket-settings.ts';

export type Versioning = 'off' | 'on' | 'suspended';

/** A transition for which other writers must wait. After `until`, any of them may undo it. */
export interface Transition {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The kinds of documents that a bucket may have. */
export type DocumentKind = 'tagging' | 'acl' | 'policy' | 'cors' | 'website' | 'lifecycle' | 'notification';

export interface Bucket extends BucketSettings {
  readonly name: string;
  /** New at every creation: a bucket with a reused name is another bucket. */
  readonly id: string;
  /** The canonical id of the owning project. */
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly versioning: Versioning;
  readonly token: string;
  /** Set while DeleteBucket checks whether it is empty. */
  readonly closing: Transition | undefined;
  /** Set while PutBucketVersioning waits until every write under the former state has ended. */
  readonly settling: Transition | undefined;
  /** Its quota, if it differs from the deployment's default. */
  readonly quota?: Partial<Amount> | undefined;
  /** True if the quota is exhausted. A follower of the change feed sets it, some time after the writes. */
  readonly full: boolean;
  /** The revisions of its documents. */
  readonly documents: Readonly<Partial<Record<DocumentKind, string>>>;
  /** The LocationConstraint it was created with; undefined if there was none. */
  readonly location?: string | undefined;
  /** The time at which this image was read, in milliseconds since the epoch. If older than a second, it is read again before a commit. */
  readonly readAt: number;
}

/** Creates a 404 error that names the bucket. */
export function noSuchBucket(name: string): S3Error {
  return new S3Error('NoSuchBucket', { details: { BucketName: name } });
}

/** Creates the error for what needs a bucket with object lock. @param message S3 words it in two ways */
export function noObjectLock(message: string): S3Error {
  return new S3Error('InvalidRequest', { message });
}

/** The conditions of a change on the item that it replaces: the token of a transition. */
export const closingIs = (value: string): Expectation => ({ is: 'equal', attribute: 'ct', value });
export const settlingIs = (value: string): Expectation => ({ is: 'equal', attribute: 'st', value });

/** Encodes the item of a bucket. The name is in the key. */
export function encodeBucket(bucket: Bucket): Attributes {
  return {
    id: bucket.id,
    project: bucket.project,
    created: bucket.created,
    versioning: bucket.versioning,
    r: bucket.token,
    ...(bucket.closing && { ct: bucket.closing.token, cu: bucket.closing.until }),
    ...(bucket.settling && { st: bucket.settling.token, su: bucket.settling.until }),
    ...(bucket.quota?.bytes !== undefined && { qb: bucket.quota.bytes }),
    ...(bucket.quota?.objects !== undefined && { qo: bucket.quota.objects }),
    ...(bucket.full && { full: true }),
    ...(Object.keys(bucket.documents).length > 0 && { docs: bucket.documents }),
    ...(bucket.location !== undefined && { loc: bucket.location }),
    ...encodeSettings(bucket),
  };
}

/** Decodes the item of a bucket. @param readAt milliseconds since the epoch */
export function decodeBucket(name: string, item: Attributes, readAt: number): Bucket {
  return {
    name,
    id: item['id'] as string,
    project: item['project'] as string,
    created: numberOf(item['created']),
    versioning: item['versioning'] as Versioning,
    token: item['r'] as string,
    closing: transition(item['ct'], item['cu']),
    settling: transition(item['st'], item['su']),
    quota: decodeQuota(item),
    full: item['full'] === true,
    documents: (item['docs'] ?? {}) as Bucket['documents'],
    location: item['loc'] as string | undefined,
    ...decodeSettings(item),
    readAt,
  };
}

function decodeQuota({ qb: bytes, qo: objects }: Attributes): Partial<Amount> | undefined {
  if (bytes === undefined && objects === undefined) return undefined;
  return {
    ...(typeof bytes === 'number' && { bytes }),
    ...(typeof objects === 'number' && { objects }),
  };
}

function transition(token: unknown, until: unknown): Transition | undefined {
  return typeof token === 'string' ? { token, until: numberOf(until) } : undefined;
}
