import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import type { Tagged } from './tags.ts';
import { writeXml } from './xml.ts';
import { legalHold, objectLockConfiguration, objectRetention } from '../../shared/documents/object-lock.ts';

export const lockModes = ['GOVERNANCE', 'COMPLIANCE'] as const;
export type LockMode = (typeof lockModes)[number];

/** How long new versions are kept that have no retention of their own. */
export interface DefaultRetention {
  readonly mode: LockMode;
  readonly period: number;
  readonly unit: 'days' | 'years';
}

/** The object lock of a bucket, which it then has for good. */
export interface BucketLock {
  readonly retention: DefaultRetention | undefined;
}

/** How long a version is kept. */
export interface Retention {
  readonly mode: LockMode;
  readonly until: Date;
}

/** What a version is kept by. */
export interface ObjectLock {
  readonly retention: Retention | undefined;
  readonly isHeld: boolean;
}

/** A version of an object, or the current one. */
type VersionPlace = Tagged & { readonly key: string };

/** Returns the object lock of a bucket, if it has one. */
export async function getObjectLock(client: S3Client, bucket: string): Promise<BucketLock | undefined> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: { 'object-lock': '' } }));
  if (xml === undefined) return undefined;
  const { defaultRetention } = objectLockConfiguration.content.read(xml);
  if (defaultRetention === undefined) return { retention: undefined };
  const { mode, days, years } = defaultRetention;
  const [period, unit] = days === undefined ? ([years!, 'years'] as const) : ([days, 'days'] as const);
  return { retention: { mode, period, unit } };
}

/** Enables the object lock of a bucket, and sets or removes its default retention. @throws S3Failure InvalidBucketState without versioning */
export async function putObjectLock(
  client: S3Client,
  bucket: string,
  retention: DefaultRetention | undefined,
): Promise<void> {
  const body = writeXml(objectLockConfiguration, {
    enabled: 'Enabled',
    ...(retention && { defaultRetention: { mode: retention.mode, [retention.unit]: retention.period } }),
  });
  await client.send({ method: 'PUT', bucket, query: { 'object-lock': '' }, body });
}

/**
 * Sets the retention of a version, or removes it.
 * @param bypass asks to shorten or remove a retention in governance mode, which needs a right of its own
 */
export async function putRetention(
  client: S3Client,
  { bucket, key, versionId }: VersionPlace,
  retention: Retention | undefined,
  bypass: boolean,
): Promise<void> {
  const { mode, until } = retention ?? {};
  const body = writeXml(objectRetention, mode && until ? { mode, until: Math.floor(until.getTime() / 1000) } : {});
  const headers = bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {};
  await client.send({ method: 'PUT', bucket, key, query: { retention: '', versionId }, headers, body });
}

/** Puts a version under a legal hold, or lifts it. */
export async function putLegalHold(
  client: S3Client,
  { bucket, key, versionId }: VersionPlace,
  on: boolean,
): Promise<void> {
  const body = writeXml(legalHold, on ? 'ON' : 'OFF');
  await client.send({ method: 'PUT', bucket, key, query: { 'legal-hold': '', versionId }, body });
}

/** Reads the lock that GET and HEAD tell to those who may know it. */
export function lockOf(headers: Headers): ObjectLock {
  const mode = lockModes.find((each) => each === headers.get('x-amz-object-lock-mode'));
  const until = headers.get('x-amz-object-lock-retain-until-date');
  return {
    retention: mode === undefined || until === null ? undefined : { mode, until: new Date(until) },
    isHeld: headers.get('x-amz-object-lock-legal-hold') === 'ON',
  };
}
