import { beforeAll, describe, expect, it } from 'vitest';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import type { Key, Unsigned } from '../support/clients/signer.ts';
import { pathOf } from '../support/clients/signer.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Users whose policies limit them, as the command line makes them. */

const service = serviceUnderTest();

describe.runIf(isAdministered)('a user of one prefix of a bucket', () => {
  const bucket = bucketName();
  let customer: string;
  let admin: MadeKey;

  const statusOf = async (request: Unsigned, key: Key): Promise<number> =>
    (await service.send(request, { key })).status;

  async function userWith(name: string, ...options: string[]): Promise<Key> {
    const user = `shop:${name}@${customer}`;
    await administer(service.place, 'user', 'create', user, ...options);
    return administer<MadeKey>(service.place, 'key', 'create', user);
  }

  beforeAll(async () => {
    customer = bucketName();
    admin = await makeKey(service.place, `shop:admin@${customer}`);
    expect(await statusOf({ method: 'PUT', path: pathOf(bucket) }, admin)).toBe(200);
    for (const key of ['2026/there', '2025/there'])
      expect(await statusOf({ method: 'PUT', path: pathOf(bucket, key), body: 'x' }, admin)).toBe(200);
  });

  const requests = {
    read: (prefix: string): Unsigned => ({ path: pathOf(bucket, `${prefix}there`) }),
    readMissing: (prefix: string): Unsigned => ({ path: pathOf(bucket, `${prefix}missing`) }),
    write: (prefix: string): Unsigned => ({ method: 'PUT', path: pathOf(bucket, `${prefix}new`), body: 'x' }),
    remove: (prefix: string): Unsigned => ({ method: 'DELETE', path: pathOf(bucket, `${prefix}new`) }),
    list: (prefix: string): Unsigned => ({ path: pathOf(bucket), query: `prefix=${encodeURIComponent(prefix)}` }),
  };

  it.each([
    // Whoever may list knows what is missing.
    ['list', { read: 403, readMissing: 404, write: 403, remove: 403, list: 200 }],
    ['read', { read: 200, readMissing: 404, write: 403, remove: 403, list: 200 }],
    ['write', { read: 403, readMissing: 403, write: 200, remove: 204, list: 403 }],
    ['read-write', { read: 200, readMissing: 404, write: 200, remove: 204, list: 200 }],
  ] as const)('may %s there, and nothing elsewhere', async (access, expected) => {
    const key = await userWith(access, '--bucket', bucket, '--prefix', '2026/', '--access', access);
    const tried: Record<string, number> = {};
    for (const [name, request] of Object.entries(requests)) {
      tried[name] = await statusOf(request('2026/'), key);
      expect(await statusOf(request('2025/'), key), name).toBe(403);
      expect(await statusOf(request(''), key), name).toBe(403);
    }
    expect(tried).toEqual(expected);
    // All or nothing: the list of buckets cannot be limited to some.
    expect(await statusOf({ path: '/' }, key)).toBe(403);
    expect(await statusOf({ method: 'PUT', path: pathOf(bucketName()) }, key)).toBe(403);
    expect(await statusOf({ path: pathOf(bucket), query: 'policy' }, key)).toBe(403);
    expect(await statusOf({ path: '/', query: 'account' }, key)).toBe(200);
  });

  it('has more or less as soon as its policies change', async () => {
    const user = `shop:changing@${customer}`;
    const key = await userWith('changing');
    const status = (): Promise<number> => statusOf(requests.read('2025/'), key);
    expect(await status()).toBe(200);
    await administer(service.place, 'policy', 'detach', user, 'FullAccess');
    await expect.poll(status).toBe(403);
    // A write is judged by what holds when it commits.
    expect(await statusOf(requests.write('2025/'), key)).toBe(403);
    await administer(service.place, 'policy', 'attach', user, 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess');
    await expect.poll(status).toBe(200);
    expect(await statusOf({ path: '/' }, key)).toBe(200);
    const deny = { Version: '2012-10-17', Statement: { Effect: 'Deny', Action: 's3:GetObject', Resource: '*' } };
    await administer(service.place, 'policy', 'put', user, 'no-reading', JSON.stringify(deny));
    await expect.poll(status).toBe(403);
    await administer(service.place, 'policy', 'remove', user, 'no-reading');
    await expect.poll(status).toBe(200);
  });
});
