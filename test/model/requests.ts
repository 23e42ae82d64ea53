import { neverAborted } from '../../shared/ports/event-loop.ts';
import { fullRights } from '../../shared/access/identity-rights.ts';
import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { createHash } from 'node:crypto';
import { operations } from '../../functions/operations.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Fields } from '../../shared/http/message.ts';
import { Query } from '../../shared/http/query.ts';
import { listObjects } from '../../shared/storage/listings/object-listing.ts';
import { OutcomeUnknown } from '../../shared/storage/version-changes/outcomes.ts';
import { listVersions as pageOfVersions } from '../../shared/storage/listings/version-listing.ts';
import { encodeContent } from '../../shared/storage/versions/stored-values.ts';
import { versionIdOf, type Version } from '../../shared/storage/versions/versions.ts';
import { TableBusy } from '../../shared/ports/key-value-table.ts';
import { measuredBytes } from '../../shared/protocol/bodies/measured-bytes.ts';
import type { AnyOperation, RequestHead, Services } from '../../shared/protocol/operation.ts';
import { RequestView } from '../../shared/protocol/authorisation/request-view.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import { ListedObjects, ListedVersions } from '../support/storage/listed-objects.ts';
import type { Actor } from './actor.ts';
import { canonical } from './fingerprint.ts';
import { specification, type KeyEvent } from './specification.ts';
import type { Watcher } from './watcher.ts';

/** A request of a client. `version` is the name of the actor that wrote the version, or `null`. */
export type Request =
  | {
      readonly do: 'put';
      readonly key: string;
      /** If-None-Match: *, or If-Match with the ETag of the content of an actor. */
      readonly only?: 'absent' | { readonly match: string };
      /** The milliseconds that the body takes. */
      readonly slow?: number;
      /** Adds more metadata than fits into the item of a version. */
      readonly long?: true;
    }
  | { readonly do: 'delete'; readonly key: string }
  | { readonly do: 'delete version'; readonly key: string; readonly version: string }
  | { readonly do: 'get'; readonly key: string; readonly version?: string }
  | { readonly do: 'tag'; readonly key: string; readonly long?: true }
  | { readonly do: 'list' }
  | { readonly do: 'list versions' }
  | { readonly do: 'copy'; readonly from: string; readonly to: string }
  | { readonly do: 'rename'; readonly from: string; readonly to: string }
  | { readonly do: 'set versioning'; readonly to: 'on' | 'suspended' }
  | { readonly do: 'delete bucket' }
  | { readonly do: 'create bucket' }
  | { readonly do: 'upload part' }
  | { readonly do: 'complete' }
  | { readonly do: 'abort' };

/** The environment of a request. */
export interface Place {
  readonly services: Services;
  readonly watcher: Watcher;
  /** The id of the scenario's upload. */
  readonly upload: string | undefined;
}

export const bucketName = 'bucket';
export const uploadKey = 'k';
/** Every part has the same bytes, so a repeated part is the same part. */
const partText = 'part';

/** Performs a request with the project's own code, and returns the answer in the terms of the specification. */
export async function perform(request: Request, actor: Actor, place: Place): Promise<unknown> {
  try {
    return await answerTo(request, actor, place);
  } catch (error) {
    if (error instanceof OutcomeUnknown) return 'unknown';
    if (error instanceof TableBusy) return 'SlowDown';
    if (error instanceof S3Error) return error.code;
    return `threw ${String((error as Error).stack)}`;
  }
}

/** Answers that leave the outcome open: the request may have been carried out or not. */
const promisesNothing = new Set([
  'unknown',
  'SlowDown',
  'ServiceUnavailable',
  'ConditionalRequestConflict',
  'InternalError',
]);

async function answerTo(request: Request, actor: Actor, place: Place): Promise<unknown> {
  const { services, watcher } = place;
  const { buckets, objects, uploads } = services;
  switch (request.do) {
    case 'put': {
      const { key, only, slow, long } = request;
      const fields: [string, string][] = [
        ['content-length', String(actor.name.length)],
        ...(only === 'absent' ? [['if-none-match', '*'] as [string, string]] : []),
        ...(typeof only === 'object' ? [['if-match', etag(only.match)] as [string, string]] : []),
        ...(long ? [['x-amz-meta-long', 'x'.repeat(1500)] as [string, string]] : []),
      ];
      const { version } = (await act('PutObject', actor, place, {
        key,
        fields,
        body: text(actor.name, place, slow),
      })) as {
        version: Version;
      };
      return ['put', shown(version, watcher)];
    }
    case 'delete': {
      const { key } = request;
      const bucket = await buckets.load(bucketName);
      const { currentVersion: marker } = await objects.remove({
        by: 'request',
        authorisation: asService(bucket, key),
        owner: actor.name,
      });
      return ['deleted', marker && shown(marker, watcher)];
    }
    case 'delete version': {
      const { key } = request;
      const bucket = await buckets.load(bucketName);
      const instance = request.version === 'null' ? 'null' : watcher.instanceOf(bucket.id, key, request.version);
      // The id of a version that is not written yet is unknown.
      if (instance === undefined) return 'never named';
      const { version: gone } = await objects.remove({
        by: 'request',
        authorisation: asService(bucket, key, instance),
        owner: 'project',
      });
      return ['gone', gone && (gone.marker ? 'marker' : contentOf(gone))];
    }
    case 'get': {
      const { key, version: label } = request;
      const bucket = await buckets.load(bucketName);
      const id = label === undefined || label === 'null' ? label : watcher.instanceOf(bucket.id, key, label);
      if (label !== undefined && id === undefined) return 'never named';
      const version = await objects.find(bucket, key, id);
      if (version === undefined || (version.marker && id === undefined)) return 'NoSuchKey';
      if (version.marker) return 'MethodNotAllowed';
      const { tags } = await objects.objectAttributes(version);
      return ['got', contentOf(version), tags[0]?.[1]];
    }
    case 'tag': {
      const bucket = await buckets.load(bucketName);
      const value = actor.name + (request.long ? 'x'.repeat(1500) : '');
      await objects.revise(asService(bucket, request.key), (all) => ({ ...all, tags: [['tag', value]] }));
      return ['tagged'];
    }
    case 'list': {
      const bucket = await buckets.load(bucketName);
      const asked = { prefix: '', delimiter: '', position: undefined, limit: 1000 };
      const rows = new ListedObjects();
      await listObjects({ ...services, signal: neverAborted }, bucket, asked, 20_000, rows);
      return { listed: Object.fromEntries(rows.all.map((one) => [one.key, contentOf(one)])) };
    }
    case 'list versions': {
      const bucket = await buckets.load(bucketName);
      const asked = { prefix: '', delimiter: '', keyMarker: '', versionIdMarker: '', limit: 1000 };
      const rows = new ListedVersions();
      await pageOfVersions({ ...services, signal: neverAborted }, bucket, asked, 20_000, rows);
      const versions: Record<string, unknown[]> = {};
      for (const { key, id, ...version } of rows.all) {
        const label = shown({ ...version, named: id !== 'null' }, watcher);
        versions[key] = [...(versions[key] ?? []), [label, contentOf(version)]];
      }
      return { versions };
    }
    case 'copy': {
      const fields: [string, string][] = [
        ['x-amz-copy-source', `/${bucketName}/${request.from}`],
        ['x-amz-metadata-directive', 'REPLACE'],
      ];
      const { version } = (await act('CopyObject', actor, place, { key: request.to, fields })) as { version: Version };
      return ['copied', shown(version, watcher), contentOf(version)];
    }
    case 'rename': {
      const fields: [string, string][] = [['x-amz-rename-source', `/${bucketName}/${request.from}`]];
      await act('RenameObject', actor, place, { key: request.to, fields });
      return ['renamed'];
    }
    case 'set versioning':
      await buckets.setVersioning(asService(await buckets.load(bucketName)), request.to);
      return ['versioning'];
    case 'delete bucket':
      await buckets.remove(asService(await buckets.load(bucketName)));
      return ['removed'];
    case 'create bucket':
      await buckets.create(byOperator, bucketName, actor.name, 100);
      return ['created'];
    case 'upload part': {
      const query = `uploadId=${place.upload}&partNumber=1`;
      const fields: [string, string][] = [['content-length', String(partText.length)]];
      await act('UploadPart', actor, place, { key: uploadKey, fields, query, body: text(partText, place) });
      return ['part'];
    }
    case 'complete': {
      const document = [{ partNumber: 1, etag: etag(partText), checksums: [] }];
      const query = `uploadId=${place.upload}`;
      const given = (await act('CompleteMultipartUpload', actor, place, { key: uploadKey, query, document })) as {
        versionId: string;
      };
      return ['completed', given.versionId === 'null' ? 'null' : watcher.labelOf(given.versionId)];
    }
    case 'abort':
      await uploads.abort(asService(await buckets.load(bucketName), uploadKey), place.upload!);
      return ['aborted'];
  }
}

interface Sent {
  readonly key: string;
  readonly fields?: readonly (readonly [string, string])[];
  readonly query?: string;
  readonly body?: { readonly bytes: AsyncIterable<Uint8Array>; readonly length: number };
  readonly document?: unknown;
}

/** Performs the steps of the pipeline that access table or blobs, for an operation that calls more than one repository. */
async function act(name: OperationName, actor: Actor, { services }: Place, sent: Sent): Promise<unknown> {
  const operation: AnyOperation = operations.get(name)!;
  const { settings } = services;
  const head: Omit<RequestHead<'object'>, 'virtualHost'> = {
    ...{
      bucket: bucketName,
      key: sent.key,
      method: 'PUT',
      secure: true,
      remoteAddress: '',
      settings,
      virtualHost: false,
      signed: true,
    },
    fields: new Fields(sent.fields),
    query: Query.parse(sent.query ?? ''),
  };
  const input: unknown = operation.parse(head as never, operation.conditions?.read(head.fields));
  const bucket = await services.buckets.load(bucketName);
  // Parts and completions come from the initiator of the upload.
  const id = input !== null && typeof input === 'object' && 'uploadId' in input ? 'upload' : actor.name;
  const project = { id, email: actor.name, displayName: actor.name };
  const caller = {
    kind: 'user',
    id: '',
    accessKeyId: '',
    name: '',
    project,
    privileges: [],
    rights: fullRights,
  } as const;
  const payload = sent.body && measuredBytes(sent.body.bytes, sent.body.length, 'CRC32');
  const about = {
    bucket,
    caller,
    view: new RequestView(services, bucket),
    authorisation: asService(bucket, sent.key),
    authorise: async ({ key, versionId }: { key: string; versionId?: string }) => asService(bucket, key, versionId),
    authoriseLook: async (): Promise<void> => undefined,
    requestId: '',
    signal: neverAborted,
    performs: () => undefined,
  };
  return operation.act(input, { ...services, ...about, payload, document: sent.document });
}

function text(content: string, { services }: Place, slow?: number): NonNullable<Sent['body']> {
  const bytes = (async function* () {
    if (slow !== undefined) await services.clock.sleep(slow);
    yield Buffer.from(content);
  })();
  return { bytes, length: content.length };
}

function etag(content: string): string {
  return createHash('md5').update(content).digest('hex');
}

function shown(version: Pick<Version, 'instance' | 'named'>, watcher: Watcher): string {
  return versionIdOf(version) === 'null' ? 'null' : watcher.labelOf(version.instance);
}

function contentOf(version: Pick<Version, 'content'>): string | undefined {
  return version.content && encodeContent(version.content);
}

/**
 * Returns the events of a request on a key in the terms of the specification; none if it did not involve the key.
 * @param others whether the bucket has further keys, so that this one does not decide whether it is empty
 */
export function eventsOf(
  actor: Actor,
  request: Request,
  key: string,
  watcher: Watcher,
  others: boolean,
): readonly KeyEvent[] {
  if (!actor.started || actor.result === 'never named') return [];
  const { result } = actor;
  const open = actor.crashed || promisesNothing.has(result as string);
  const event = (does: KeyEvent['does'], answer: unknown = result): KeyEvent => ({
    actor: actor.name,
    began: actor.startedAt,
    ended: open ? Infinity : actor.endedAt,
    open,
    answer: open ? undefined : canonical(answer),
    does,
  });
  const refused = typeof result === 'string';
  const own = watcher.contentOf(key, actor.name);
  switch (request.do) {
    case 'put': {
      if (request.key !== key) return [];
      const { only } = request;
      const condition = typeof only === 'object' ? { content: watcher.contentOf(key, only.match)! } : only;
      return [event(specification.put(actor.name, own, condition))];
    }
    case 'delete':
      return request.key === key ? [event(specification.delete(actor.name))] : [];
    case 'delete version':
      return request.key === key ? [event(specification.deleteVersion(request.version))] : [];
    case 'get':
      return request.key === key ? [event(specification.get(request.version))] : [];
    case 'tag':
      return request.key === key ? [event(specification.tag(actor.name + (request.long ? 'x'.repeat(1500) : '')))] : [];
    case 'list': {
      const seen = (result as { listed?: Record<string, string> } | undefined)?.listed?.[key];
      return [event(specification.listed(), refused ? result : ['listed', seen])];
    }
    case 'list versions': {
      const seen = (result as { versions?: Record<string, unknown[]> } | undefined)?.versions?.[key];
      return [event(specification.listedVersions(), refused ? result : ['versions', seen ?? []])];
    }
    case 'copy': {
      const [, id, content] = (refused || open ? [] : result) as [string?, string?, string?];
      const seen = event(specification.seen(), refused ? result : ['seen', content]);
      const made = event(specification.put(actor.name, own), ['put', id]);
      if (refused && !open) return request.from === key ? [seen] : [];
      return [
        // A copy onto itself is one event: it puts the content that it read.
        ...(request.from === key && request.to !== key ? [seen] : []),
        ...(request.to === key && (!open || own !== undefined) ? [made] : []),
      ];
    }
    case 'rename': {
      const content = watcher.contentOf(request.to, actor.name);
      const happened = !open || content !== undefined;
      if (refused && !open) return request.from === key ? [event(specification.seen())] : [];
      return [
        ...(request.from === key && happened
          ? [event(specification.leave(actor.name, content), ['renamed', content])]
          : []),
        ...(request.to === key && happened ? [event(specification.put(actor.name, own), undefined)] : []),
      ].map((one) => (request.to === key ? { ...one, answer: undefined } : one));
    }
    case 'set versioning':
      return [event(specification.setVersioning(request.to))];
    case 'delete bucket':
      return others && result === 'BucketNotEmpty' ? [] : [event(specification.deleteBucket())];
    case 'create bucket':
      return [event(specification.createBucket())];
    case 'upload part':
      return key === uploadKey ? [event(specification.part())] : [];
    case 'complete':
      return key === uploadKey ? [event(specification.complete(actor.name, own))] : [];
    case 'abort':
      return key === uploadKey ? [event(specification.abort())] : [];
  }
}

export const put = (key: string) => ({ do: 'put', key }) as const;
export const putIfAbsent = (key: string) => ({ do: 'put', key, only: 'absent' }) as const;
export const remove = (key: string) => ({ do: 'delete', key }) as const;
export const removeVersion = (key: string, version: string) => ({ do: 'delete version', key, version }) as const;
export const get = (key: string) => ({ do: 'get', key }) as const;
export const getVersion = (key: string, version: string) => ({ do: 'get', key, version }) as const;
export const tag = (key: string) => ({ do: 'tag', key }) as const;
export const copy = (from: string, to: string) => ({ do: 'copy', from, to }) as const;
export const rename = (from: string, to: string) => ({ do: 'rename', from, to }) as const;
export const setVersioning = (to: 'on' | 'suspended') => ({ do: 'set versioning', to }) as const;
export const list = { do: 'list' } as const;
export const listVersions = { do: 'list versions' } as const;
export const removeBucket = { do: 'delete bucket' } as const;
export const createBucket = { do: 'create bucket' } as const;
export const uploadPart = { do: 'upload part' } as const;
export const complete = { do: 'complete' } as const;
export const abort = { do: 'abort' } as const;
/** Not a request: follows the feed and frees released bytes at once. */
export const release = { do: 'release' } as const;
