import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { administer, makeKey } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signedV2 } from '../support/clients/signer-v2.ts';

const service = serviceUnderTest();
const request = { path: '/', query: 'account' };

/** Other test files create buckets in the same projects. */
const withoutCount = (text: string): string => text.replace(/(?<=<BucketCount>)\d+/, 'N');

/** The document for a user of the tests. */
function account({ project, id, displayName, users }: (typeof accounts)[number], limit = 50): string {
  const [{ name, keys }] = users;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Account xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
    `<Project><Id>${id}</Id><Email>${project}</Email><DisplayName>${displayName}</DisplayName></Project>` +
    `<User>${name}</User><AccessKeyId>${keys[0].accessKeyId}</AccessKeyId>` +
    `<BucketCount>N</BucketCount><BucketLimit>${limit}</BucketLimit></Account>`
  );
}

describe('GetAccount', () => {
  it('says who signed, and nothing of others', async () => {
    const response = await service.send(request);
    expect([response.status, response.header('content-type')]).toEqual([200, 'application/xml']);
    expect(withoutCount(response.text)).toBe(account(accounts[0]));
    const other = await service.send(request, { key: service.bob });
    expect(withoutCount(other.text)).toBe(account(accounts[1]));
    const presigned = await service.sendPresigned(request, { key: service.bob });
    expect(withoutCount(presigned.text)).toBe(account(accounts[1]));
  });

  it.runIf(isAdministered)('says how many buckets the project has and may have', async () => {
    const customer = service.freeName('customer');
    const { accessKeyId, secretAccessKey } = await makeKey(service.place, `shop:ci@${customer}`);
    const key = { accessKeyId, secretAccessKey };
    const ask = async (): Promise<readonly string[]> => {
      const { text } = await service.send(request, { key });
      return ['Email', 'User', 'AccessKeyId', 'BucketCount', 'BucketLimit'].map((name) => textOf(text, name)!);
    };
    const own = [`shop@${customer}`, 'ci', accessKeyId];
    expect(await ask()).toEqual([...own, '0', '50']);
    await administer(service.place, 'quota', 'set', `shop@${customer}`, '--buckets', '1');
    // A project is looked up every few seconds.
    await expect.poll(ask).toEqual([...own, '0', '1']);

    const client = service.sdk(key);
    const Bucket = bucketName();
    await client.send(new CreateBucketCommand({ Bucket }));
    expect(await ask()).toEqual([...own, '1', '1']);
    await expect(client.send(new CreateBucketCommand({ Bucket: bucketName() }))).rejects.toEqual(
      s3Error('TooManyBuckets', 400),
    );
    expect(await ask()).toEqual([...own, '1', '1']);
    await client.send(new DeleteBucketCommand({ Bucket }));
    expect(await ask()).toEqual([...own, '0', '1']);
    client.destroy();
  });

  it('is for callers who sign, in version 4', async () => {
    expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    const guessed = { ...service.alice, secretAccessKey: 'guessed' };
    expectError(await service.send(request, { key: guessed }), 403, 'SignatureDoesNotMatch');
    const old = signedV2(service.host, request, { key: service.alice });
    expectError(await exchange(service.url, old), 400, 'InvalidRequest');
  });

  it('is read, of the service alone', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'HEAD']) {
      const response = await service.send({ ...request, method });
      expect([method, response.status, response.header('allow')]).toEqual([method, 405, 'GET']);
    }
    const bucket = await service.bucket();
    expectError(await service.send({ path: `/${bucket}`, query: 'account' }), 405, 'MethodNotAllowed');
    expectError(await service.send({ path: `/${bucket}`, query: 'account&quota' }), 400, 'InvalidArgument');
  });
});
