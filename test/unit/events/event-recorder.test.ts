import { beforeEach, describe, expect, it } from 'vitest';
import { EphemeralTable } from '../../../shared/adapters/ephemeral/ephemeral-table.ts';
import { EventRecorder } from '../../../shared/events/event-recorder.ts';
import { eventRecord } from '../../../shared/events/event-record.ts';
import { encodeNotification } from '../../../shared/events/notification-document.ts';
import { decodeEvent, type RecordedEvent } from '../../../shared/events/recorded-event.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { Objects } from '../../../shared/storage/objects/objects.ts';
import { eventKeyParts } from '../../../shared/storage/table/keys/event-keys.ts';
import { isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import type { NewVersion } from '../../../shared/storage/version-changes/new-version.ts';
import {
  asLifecycle,
  asService,
  byOperator,
  ServiceAuthorisation,
} from '../../../shared/storage/version-changes/service-authorisation.ts';
import { noObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import { CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';

const anObject: NewVersion = {
  ...{ marker: false, size: 5, md5: new Uint8Array(16), content: undefined, owner: 'project', contentType: undefined },
  ...{ checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
};
const events = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:LifecycleExpiration:*', 's3:ObjectTagging:*'];

let table: EphemeralTable;
let objects: Objects;
let buckets: Buckets;
let bucket: Bucket;
beforeEach(async () => {
  table = new EphemeralTable({ isFollowed });
  const deps = { table, clock: new SetClock(), randomness: new CountedBytes() };
  buckets = new Buckets(deps);
  objects = new Objects({ ...deps, buckets, recorder: new EventRecorder({ buckets }) });
  await buckets.create(byOperator, 'bucket', 'project', 10);
  await configure('');
});

async function configure(prefix: string | undefined): Promise<void> {
  const rules = prefix === undefined ? [] : [{ id: 'rule', via: 'Queue', target: 'arn', events, prefix } as const];
  const document = encodeNotification({ rules, eventBridge: false, region: 'mars' });
  await buckets.documents.set(asService(await buckets.load('bucket')), 'notification', document);
  bucket = await buckets.load('bucket');
}

const request = (operation: string, key: string): ServiceAuthorisation => {
  const of = { requester: 'project:user', remoteAddress: '::1', requestId: 'id', hostId: 'host' };
  return new ServiceAuthorisation(bucket, { by: 'request', operation, ...of }, key);
};
const put = (key: string) => objects.put(request('PutObject', key), anObject);

/** Returns what was recorded in the feed. */
async function recorded(): Promise<(RecordedEvent & { readonly key: string })[]> {
  return (await table.read(undefined, 1000)).flatMap(({ key, new: present }) => {
    const parts = eventKeyParts.event(key);
    return parts && present ? [{ ...decodeEvent(present), key: parts.key }] : [];
  });
}
const names = async (): Promise<string[]> => (await recorded()).map(({ name, key }) => `${name} ${key}`);

describe('commits', () => {
  it('record what requests do, and who made them', async () => {
    await put('a');
    await objects.revise(request('PutObjectTagging', 'a'), (attributes) => attributes);
    await objects.revise(request('PutObjectAcl', 'a'), (attributes) => attributes);
    await objects.remove({ by: 'request', authorisation: request('DeleteObject', 'a'), owner: 'project' });
    expect(await names()).toEqual(['ObjectCreated:Put a', 'ObjectTagging:Put a', 'ObjectRemoved:Delete a']);
    expect((await recorded())[0]).toEqual({
      ...{ name: 'ObjectCreated:Put', region: 'mars', bucket: 'bucket', project: 'project', key: 'a', size: 5 },
      ...{ etag: '0'.repeat(32), requester: 'project:user', remoteAddress: '::1', requestId: 'id', hostId: 'host' },
      ...{ ruleId: 'rule', target: 'arn' },
    });
  });

  it('record nothing that does not happen', async () => {
    await objects.remove({ by: 'request', authorisation: request('DeleteObject', 'none'), owner: 'project' });
    const fails = (): never => {
      throw new Error('condition');
    };
    await expect(objects.put(request('PutObject', 'a'), anObject, { guard: fails })).rejects.toThrow('condition');
    expect(await recorded()).toEqual([]);
    await put('a');
    const remove = () =>
      objects.remove({ by: 'request', authorisation: request('DeleteObject', 'a'), owner: 'project' });
    await Promise.all([remove(), remove(), remove()]);
    expect(await names()).toEqual(['ObjectCreated:Put a', 'ObjectRemoved:Delete a']);
  });

  it('record what lifecycle rules and operators do, as of the service', async () => {
    const seen = await put('a');
    await put('b');
    const expired = { by: 'lifecycle', expires: 'object', authorisation: asLifecycle(bucket, 'a'), seen } as const;
    await objects.remove(expired);
    await objects.remove({ by: 'operator', authorisation: asService(bucket, 'b') });
    expect((await names()).slice(2)).toEqual(['LifecycleExpiration:Delete a', 'ObjectRemoved:Delete b']);
    const [, , byRule] = await recorded();
    const record = eventRecord(byRule!, { key: 'a', at: 0, position: '255' });
    expect(record).toMatchObject({
      userIdentity: { principalId: 's3.amazonaws.com' },
      requestParameters: { sourceIPAddress: 's3.amazonaws.com' },
      s3: { object: { sequencer: 'FF'.padStart(34, '0') } },
    });
  });

  it('record versions and markers, where there are any', async () => {
    await buckets.setVersioning(asService(bucket), 'on');
    bucket = await buckets.load('bucket');
    const { instance } = await put('a');
    const { currentVersion } = await objects.remove({
      ...({ by: 'request', authorisation: request('DeleteObject', 'a'), owner: 'project' } as const),
    });
    const noncurrent = new ServiceAuthorisation(bucket, request('DeleteObject', 'a').origin, 'a', instance);
    await objects.remove({ by: 'request', authorisation: noncurrent, owner: 'project' });
    expect((await recorded()).map(({ name, versionId }) => [name, versionId])).toEqual([
      ['ObjectCreated:Put', instance],
      ['ObjectRemoved:DeleteMarkerCreated', currentVersion!.instance],
      ['ObjectRemoved:Delete', instance],
    ]);
  });

  it('record nothing where no rule is about it, and none where there is no configuration', async () => {
    await configure('in/');
    await put('out/a');
    await put('in/a');
    expect(await names()).toEqual(['ObjectCreated:Put in/a']);
    await configure(undefined);
    await put('in/b');
    expect(await recorded()).toHaveLength(1);
  });
});
