import { CreateBucketCommand, DeleteBucketCommand, ListBucketsCommand, type S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { eventually } from '../support/runs/eventually.ts';

/** The running service applies the changes of the administration commands. */
const service = serviceUnderTest({ alone: true });

const list = (client: S3Client): Promise<unknown> => client.send(new ListBucketsCommand({}));
const works = (client: S3Client): Promise<void> =>
  eventually(async () => void (await expect(list(client)).resolves.toBeDefined()));
const fails = (client: S3Client, code: string): Promise<void> =>
  eventually(async () => void (await expect(list(client)).rejects.toEqual(s3Error(code, 403))));

describe.runIf(isAdministered)('accounts', () => {
  it('work as soon as they are made, also under a key id with : and @', async () => {
    const key = await makeKey(service.place, 'shop:ci@made');
    expect(key.accessKeyId).toMatch(/^STIL[A-Z\d]{16}$/);
    await works(service.sdk(key));
    const named = await administer<MadeKey>(service.place, 'key', 'create', 'shop:ci@made', '--id', 'shop:ci@made');
    expect(named.accessKeyId).toBe('shop:ci@made');
    await works(service.sdk(named));
  });

  it('are refused while one of the levels is suspended', async () => {
    const key = await makeKey(service.place, 'shop:ci@stopped');
    const client = service.sdk(key);
    await works(client);
    for (const [level, name] of [
      ['customer', 'stopped'],
      ['project', 'shop@stopped'],
      ['user', 'shop:ci@stopped'],
      ['key', key.accessKeyId],
    ] as const) {
      await administer(service.place, level, 'suspend', name);
      await fails(client, 'UserSuspended');
      await administer(service.place, level, 'resume', name);
      await works(client);
    }
  });

  it('take another key without a gap', async () => {
    const key = await makeKey(service.place, 'shop:ci@rotated');
    const made = await administer<MadeKey & { formerUntil?: number }>(service.place, 'key', 'rotate', key.accessKeyId);
    expect(made.accessKeyId).toMatch(/^STIL[A-Z\d]{16}$/);
    expect(made.formerUntil).toBeUndefined();
    await works(service.sdk(key));
    await works(service.sdk(made));
    const listed = await administer<object[]>(service.place, 'key', 'list', 'shop:ci@rotated');
    for (const one of listed) expect(one).not.toHaveProperty('until');
    await administer(service.place, 'key', 'remove', key.accessKeyId);
    await fails(service.sdk(key), 'InvalidAccessKeyId');

    const last = await administer<MadeKey>(service.place, 'key', 'rotate', made.accessKeyId, '--overlap', '1h');
    await works(service.sdk(made));
    await administer(service.place, 'key', 'rotate', made.accessKeyId, '--overlap', '0');
    await fails(service.sdk(made), 'InvalidAccessKeyId');
    await works(service.sdk(last));
  });

  it('have no key any more once their user is removed', async () => {
    const key = await makeKey(service.place, 'shop:ci@gone');
    const client = service.sdk(key);
    await works(client);
    await administer(service.place, 'user', 'remove', 'shop:ci@gone');
    await fails(client, 'InvalidAccessKeyId');
  });

  it('are shown with their buckets', async () => {
    const key = await makeKey(service.place, 'shop:ci@owner');
    const client = service.sdk(key);
    const Bucket = bucketName();
    await works(client);
    await client.send(new CreateBucketCommand({ Bucket }));
    const listed = await administer(service.place, 'bucket', 'list', 'shop@owner');
    expect(listed).toMatchObject([{ bucket: Bucket, project: 'shop@owner', objects: 0, bytes: 0 }]);
    expect(await administer(service.place, 'project', 'show', 'shop@owner')).toMatchObject({ buckets: 1 });
    await client.send(new DeleteBucketCommand({ Bucket }));
  });
});
