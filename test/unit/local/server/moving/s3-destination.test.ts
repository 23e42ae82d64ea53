import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ByteRate } from '../../../../../local/server/moving/byte-rate.ts';
import { copyBucket } from '../../../../../local/server/moving/copy-bucket.ts';
import { Ledger } from '../../../../../local/server/moving/ledger.ts';
import { localEndpoint } from '../../../../../local/server/moving/local-endpoint.ts';
import { S3Destination } from '../../../../../local/server/moving/s3-destination.ts';
import { sourceKeys, wholeOf, type SourceKey } from '../../../../../local/server/moving/source-listing.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import { TargetFailed } from '../../../../../shared/ports/backup-target.ts';
import { RequestRefused, type S3Endpoint, type S3Request } from '../../../../../shared/ports/s3-endpoint.ts';
import { person, PipelineInProcess } from '../../../../support/storage/pipeline-in-process.ts';

const owner = person('owner');
const clock = { now: Date.now, sleep: async (): Promise<void> => undefined };

let endpoint: S3Endpoint;
beforeEach(async () => {
  endpoint = localEndpoint(new PipelineInProcess([owner]).services, owner.project, new CryptoRandomness());
  const body = Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');
  for (const bucket of ['origin', 'copies']) {
    await endpoint.send({ method: 'PUT', bucket });
    await endpoint.send({ method: 'PUT', bucket, query: { versioning: '' }, body });
  }
});

const put = (key: string, text: string, fields: S3Request['fields'] = {}): Promise<unknown> =>
  endpoint.send({ method: 'PUT', bucket: 'origin', key, body: Buffer.from(text), fields });
const remove = (key: string): Promise<unknown> => endpoint.send({ method: 'DELETE', bucket: 'origin', key });

/** Copies one bucket to the other. @param of the owner's id at the target; empty: it has no ACLs */
async function copied(target: S3Endpoint = endpoint, origin = 'origin', of = owner.project.id): Promise<Ledger> {
  const ledger = new Ledger(
    () => undefined,
    () => undefined,
  );
  const to = new S3Destination({
    source: { endpoint, bucket: origin },
    target: { endpoint: target, bucket: 'copies' },
    ...{ clock, rate: new ByteRate(Infinity, clock) },
    ...{ isVersioned: true, isLocked: false, acls: true, owner: of || undefined },
  });
  const listed = { endpoint, bucket: origin, prefix: '', isVersioned: true };
  await copyBucket({ listed, to, ledger, removes: false, isTrial: false });
  return ledger;
}

/** What is compared of two buckets. */
async function rows(bucket: string): Promise<unknown> {
  const keys: SourceKey[] = [];
  for await (const key of sourceKeys({ endpoint, bucket, prefix: '', isVersioned: true })) keys.push(key);
  return keys.map(({ key, versions }) => [key, versions.map(({ marker, size, etag }) => [marker, size, etag])]);
}

const isWrite = ({ method }: S3Request): boolean => method === 'PUT' || method === 'DELETE';

/** A target that does otherwise with writes. */
const target = (write: (request: S3Request) => ReturnType<S3Endpoint['send']>): S3Endpoint => ({
  name: 'target',
  send: (request) => (isWrite(request) ? write(request) : endpoint.send(request)),
  buckets: () => endpoint.buckets(),
});

describe('a copy to an S3', () => {
  it('has the versions in their order, and what describes them', async () => {
    const who = Buffer.from('jörg').toString('latin1');
    await put('ä/a+b c', 'first', {
      ...{ 'x-amz-meta-who': who, 'content-type': 'text/plain', 'cache-control': 'no-store' },
      ...{ 'x-amz-tagging': 'k=v%2Bw&l=', 'x-amz-storage-class': 'STANDARD_IA' },
    });
    for (const text of ['same', 'same', '']) await put('ä/a+b c', text);
    await remove('ä/a+b c');
    await put('b', 'last');
    expect(await copied()).toMatchObject({ versions: 5, markers: 1, same: 0, examples: [] });
    expect(await rows('copies')).toEqual(await rows('origin'));
    expect(await copied()).toMatchObject({ versions: 0, markers: 0, same: 6, examples: [] });
    for await (const { key, versions } of sourceKeys({ endpoint, bucket: 'copies', prefix: 'ä', isVersioned: true })) {
      const query = { versionId: versions[0]!.id! };
      const { fields, bytes } = await endpoint.send({ method: 'GET', bucket: 'copies', key, query });
      expect((await wholeOf(bytes, 100)).toString()).toBe('first');
      expect(fields).toMatchObject({
        ...{ 'x-amz-meta-who': who, 'content-type': 'text/plain', 'cache-control': 'no-store' },
        ...{ 'x-amz-tagging-count': '2', 'x-amz-storage-class': 'STANDARD_IA' },
      });
    }
  });

  it('is there once although the target fails now and then, before or after it has written', async () => {
    for (const text of ['1', '2', '2']) for (const key of ['a', 'b', 'c', 'd', 'e']) await put(key, text);
    for (const key of ['a', 'b']) await remove(key);
    let writes = 0;
    const failing = target(async (request) => {
      writes += 1;
      const rest = writes % 9;
      if (rest === 1) throw new RequestRefused(503, 'SlowDown', 'later');
      const answer = await endpoint.send(request);
      if (rest === 4) throw new RequestRefused(500, 'InternalError', 'broken');
      if (rest === 7) throw new TargetFailed('nobody answers');
      return answer;
    });
    expect(await copied(failing)).toMatchObject({ versions: 15, markers: 2, examples: [] });
    expect(writes).toBeGreaterThan(17);
    expect(await rows('copies')).toEqual(await rows('origin'));
  });

  it('is removed if the target answers with another ETag, and the rest is copied', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, key);
    const lying = target(async (request) => {
      const answer = await endpoint.send(request);
      return request.key === 'b' ? { ...answer, fields: { ...answer.fields, etag: '"lie"' } } : answer;
    });
    expect(await copied(lying)).toMatchObject({
      versions: 2,
      examples: [{ kind: 'missing', key: 'b', what: expect.stringContaining('not that of its bytes') as string }],
    });
    expect(await copied()).toMatchObject({ versions: 1, same: 2, examples: [] });
    expect(await rows('copies')).toEqual(await rows('origin'));
  });

  it('lacks what the target refuses, and tells of it', async () => {
    await put('a', 'x', { 'x-amz-storage-class': 'STANDARD_IA', 'x-amz-meta-is': 'kept' });
    const refusing = target(async (request) => {
      if (request.fields?.['x-amz-storage-class'] === undefined) return endpoint.send(request);
      throw new RequestRefused(400, 'InvalidStorageClass', 'unknown');
    });
    expect(await copied(refusing)).toMatchObject({
      versions: 1,
      examples: [{ kind: 'changed', what: 'copied without its storage class, which the target refuses' }],
    });
    const { fields } = await endpoint.send({ method: 'HEAD', bucket: 'copies', key: 'a' });
    expect(fields).toMatchObject({ 'x-amz-meta-is': 'kept' });
    expect(fields).not.toHaveProperty('x-amz-storage-class');
  });

  it('is not made of what a customer key encrypts, which is told, and newer versions are copied', async () => {
    const key = Buffer.alloc(32, 7);
    await put('a', 'sealed', {
      'x-amz-server-side-encryption-customer-algorithm': 'AES256',
      'x-amz-server-side-encryption-customer-key': key.toString('base64'),
      'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(key).digest('base64'),
    });
    await put('a', 'open');
    expect(await copied()).toMatchObject({
      versions: 1,
      examples: [{ kind: 'missing', key: 'a', what: expect.stringContaining('SSE-C') as string }],
    });
  });

  it('is without a lock where the bucket has none, which is told', async () => {
    const lock = { 'x-amz-bucket-object-lock-enabled': 'true' };
    await endpoint.send({ method: 'PUT', bucket: 'locked', fields: lock });
    const fields = { 'x-amz-object-lock-legal-hold': 'ON' };
    await endpoint.send({ method: 'PUT', bucket: 'locked', key: 'a', body: Buffer.from('x'), fields });
    expect(await copied(endpoint, 'locked')).toMatchObject({
      versions: 1,
      examples: [{ kind: 'changed', key: 'a', what: 'copied without its lock, as the bucket has none' }],
    });
  });

  it('is without grants where there are none, which is told of those that had any', async () => {
    await put('a', 'x', { 'x-amz-acl': 'public-read' });
    await put('b', 'x');
    expect(await copied(endpoint, 'origin', '')).toMatchObject({
      versions: 2,
      examples: [{ kind: 'changed', key: 'a', what: 'copied without its grants, as the target has no ACLs' }],
    });
  });

  it('ends when the target no longer accepts the credentials', async () => {
    for (const key of ['a', 'b']) await put(key, key);
    const expired = target(async () => {
      throw new RequestRefused(400, 'ExpiredToken', 'The provided token has expired.');
    });
    await expect(copied(expired)).rejects.toThrow(/^the credentials are refused: ExpiredToken/);
  });
});
