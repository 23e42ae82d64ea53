import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { describe, expect, it } from 'vitest';
import { bucketPolicy } from '../../../../shared/protocol/authorisation/bucket-policy.ts';
import { itemKey } from '../../../../shared/storage/table/keys/keys.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { person, PipelineInProcess } from '../../../support/storage/pipeline-in-process.ts';

const owner = person('owner');
const friend = person('friend');

const statement = (principal: string): object => ({
  ...{ Effect: 'Allow', Principal: { AWS: principal } },
  ...{ Action: 's3:ListBucket', Resource: 'arn:aws:s3:::bucket' },
});

/** A bucket whose policy was set by a version that did not store ids with it. */
async function withFormerPolicy(...names: string[]): Promise<PipelineInProcess> {
  const service = new PipelineInProcess([owner, friend]);
  expect((await service.send({ method: 'PUT', path: '/bucket' }, owner)).status).toBe(200);
  const text = JSON.stringify({ Statement: names.map(statement) });
  const { buckets } = service.services;
  await buckets.documents.set(asService(await buckets.load('bucket')), 'policy', { text, bindsOwner: false });
  return service;
}

async function stored({ services, table }: PipelineInProcess): Promise<Attributes> {
  const { id, documents } = await services.buckets.load('bucket');
  return (await table.get(itemKey.bucketDocument(id, 'policy', documents.policy!)))!;
}

const project = friend.project.id;
const user = friend.key.accessKeyId;

describe('a policy that was set before ids were kept', () => {
  it('means the user who has its names when it is first read, and keeps that', async () => {
    const arn = `arn:aws:iam::${project}:user/${user}`;
    const service = await withFormerPolicy(friend.project.email, arn, 'nobody@here');
    expect((await service.send({ path: '/bucket' }, friend)).status).toBe(200);
    expect((await stored(service))['principals']).toEqual([
      [friend.project.email, project],
      [arn, project, `id-of-${user}`],
    ]);
  });

  it('means whom another reader has found first', async () => {
    const service = await withFormerPolicy(friend.project.email);
    service.table.beforeWrite = async ([change]) => {
      service.table.beforeWrite = async () => undefined;
      const before = await stored(service);
      await service.table.write([{ key: change!.key, put: { ...before, principals: [] } }]);
    };
    expect((await service.send({ path: '/bucket' }, friend)).status).toBe(403);
    expect((await stored(service))['principals']).toEqual([]);
  });

  it('is judged by also where it cannot be kept, and is not put in the place of another', async () => {
    const service = await withFormerPolicy(friend.project.email);
    const { buckets } = service.services;
    const bucket = await buckets.load('bucket');
    service.table.beforeWrite = async () => {
      throw new Error('only reading is allowed here');
    };
    expect((await service.send({ path: '/bucket' }, friend)).status).toBe(200);
    service.table.beforeWrite = async () => undefined;
    expect(await stored(service)).not.toHaveProperty('principals');
    expect(await bucketPolicy(bucket, service.services)).toMatchObject({ bindsOwner: false });
    const completed = { ...(await stored(service)), principals: [] };
    await buckets.documents.set(asService(bucket), 'policy', undefined);
    expect(await buckets.documents.complete(bucket, 'policy', completed, 'principals')).toBeUndefined();
    expect(await service.table.get(itemKey.bucketDocument(bucket.id, 'policy', bucket.documents.policy!))).toBe(
      undefined,
    );
  });
});
