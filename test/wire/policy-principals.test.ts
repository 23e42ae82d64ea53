import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { accounts, alice, startService, type Service } from '../support/programs/server.ts';
import { isAdministered, isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Key, type Unsigned } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

/** The principals of policies and the grantees of ACLs: those that had the name when it was set, and no later owner of the name. */

const service = serviceUnderTest();

const admin = (...args: string[]): Promise<{ id: string; accountNumber: string }> => administer(service.place, ...args);
const works = (key: MadeKey): Promise<void> =>
  eventually(async () => void (await expect(service.sdk(key).send(new ListBucketsCommand({}))).resolves.toBeDefined()));

/** A bucket with an object that whom the policy names may read. */
async function shared(principal: unknown): Promise<{ bucket: string; text: string }> {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'content');
  const statement = { Effect: 'Allow', Principal: principal, Action: 's3:GetObject' };
  const text = JSON.stringify({ Statement: [{ ...statement, Resource: `arn:aws:s3:::${bucket}/*` }] });
  expect((await setPolicy(bucket, text)).status).toBe(204);
  return { bucket, text };
}

function setPolicy(bucket: string, body: string): Promise<RawResponse> {
  return service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body });
}

const policyOf = async (bucket: string): Promise<string> =>
  (await service.send({ path: `/${bucket}`, query: 'policy' })).text;
const read = (bucket: string, key: MadeKey): Promise<RawResponse> => service.send({ path: `/${bucket}/key` }, { key });

describe.runIf(isAdministered)('a policy', () => {
  it.each([
    ['project:user@customer', (_: string, name: string) => name],
    ['an ARN with it', (_: string, name: string) => `arn:aws:iam:::user/${name}`],
    ['an ARN of the account number', (_: string, __: string, number: string) => `arn:aws:iam::${number}:user/ci`],
    ['an ARN of the project', (id: string) => `arn:aws:iam::${id}:user/ci`],
    ['an ARN of the e-mail', (_: string, name: string) => `arn:aws:iam::${name.replace(':ci@', '@')}:user/ci`],
  ])('means the user of the time, named by %s', async (_, spelling) => {
    const customer = `c${Math.random().toString(36).slice(2)}`;
    const name = `shop:ci@${customer}`;
    const first = await makeKey(service.place, name);
    const { id, accountNumber } = await admin('project', 'show', `shop@${customer}`);
    const { bucket, text } = await shared({ AWS: [accounts[1].id, spelling(id, name, accountNumber)] });
    await works(first);
    expect((await read(bucket, first)).text).toBe('content');
    expect(await policyOf(bucket)).toBe(text);

    await admin('user', 'remove', name);
    await admin('user', 'create', name);
    const next = await administer<MadeKey>(service.place, 'key', 'create', name);
    await eventually(async () => expectError(await read(bucket, next), 403, 'AccessDenied'));
    await works(next);
    expectError(await read(bucket, next), 403, 'AccessDenied');
    const shown = JSON.parse(await policyOf(bucket)) as { Statement: { Principal: { AWS: string[] } }[] };
    expect(shown.Statement[0]!.Principal.AWS).toEqual([accounts[1].id, expect.stringMatching(/^USR[A-Z2-7]{18}$/)]);
    expectError(await setPolicy(bucket, JSON.stringify(shown)), 400, 'MalformedPolicy');

    expect((await setPolicy(bucket, text)).status).toBe(204);
    expect((await read(bucket, next)).text).toBe('content');
    expect(await policyOf(bucket)).toBe(text);
  });

  it('means the project at that time, and so does an ACL', async () => {
    const customer = `c${Math.random().toString(36).slice(2)}`;
    const [project, name] = [`shop@${customer}`, `shop:ci@${customer}`];
    const first = await makeKey(service.place, name);
    const { id } = await admin('project', 'show', project);
    const { bucket, text } = await shared({ AWS: project });
    const headers = { 'x-amz-grant-write': `emailAddress="${project}"` };
    expect((await service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', headers })).status).toBe(200);
    const write = (key: MadeKey): Promise<RawResponse> =>
      service.send({ method: 'PUT', path: `/${bucket}/theirs`, body: 'x' }, { key });
    await works(first);
    expect((await read(bucket, first)).text).toBe('content');
    expect((await write(first)).status).toBe(200);

    await admin('user', 'remove', name);
    await admin('project', 'remove', project);
    expect(await policyOf(bucket)).toBe(text.replace(project, id));
    await admin('project', 'create', project);
    await admin('user', 'create', name);
    const next = await administer<MadeKey>(service.place, 'key', 'create', name);
    await works(next);
    expectError(await read(bucket, next), 403, 'AccessDenied');
    expectError(await write(next), 403, 'AccessDenied');
    expect(await policyOf(bucket)).toBe(text.replace(project, id));
    const acl = await service.send({ path: `/${bucket}`, query: 'acl' });
    expect(acl.text).toContain(`<ID>${id}</ID>`);
  });
});

/** Releases before ids were kept stored the text of a policy and nothing else. */
async function forgetIds(data: string): Promise<number> {
  const table = await LmdbTable.open(join(data, 'table'));
  let changed = 0;
  for await (const { key, attributes } of table.scan()) {
    if (!('principals' in attributes)) continue;
    const { principals: _, ...text } = attributes;
    changed += (await table.write([{ key, put: text }])).outcome === 'written' ? 1 : 0;
  }
  await table.close();
  return changed;
}

describe.runIf(!isExternal)('a policy of an earlier release', () => {
  it('means the user who has its names when it is first read, and nobody who gets them later', async () => {
    const data = await mkdtemp(join(tmpdir(), 'stillage-former-'));
    onTestFinished(() => rm(data, { recursive: true }));
    let serving: Service | undefined;
    const start = async (): Promise<(request: Unsigned, key: Key) => Promise<RawResponse>> => {
      const { host, href } = new URL((serving = await startService({ data })).url);
      return (request, key) => exchange(href, signed(host, request, { key }));
    };
    const name = 'shop:ci@former';
    const object = { path: '/former/key' };
    const before = await start();
    const first = await makeKey(data, name);
    for (const request of [
      { method: 'PUT', path: '/former' },
      { method: 'PUT', ...object, body: 'content' },
      {
        ...{ method: 'PUT', path: '/former', query: 'policy' },
        body: JSON.stringify({
          Statement: [
            {
              ...{ Effect: 'Allow', Principal: { AWS: name }, Action: 's3:GetObject' },
              Resource: 'arn:aws:s3:::former/*',
            },
          ],
        }),
      },
    ])
      expect((await before(request, alice)).status).toBeLessThan(300);
    await serving!.stop();
    expect(await forgetIds(data)).toBe(1);

    const reading = await start();
    expect((await reading(object, first)).text).toBe('content');
    // The resolved ids must have been stored: the next process has not taken part in the first read.
    await serving!.stop();
    await administer(data, 'user', 'remove', name);
    await administer(data, 'user', 'create', name);
    const namesake = await administer<MadeKey>(data, 'key', 'create', name);
    const after = await start();
    expectError(await after(object, namesake), 403, 'AccessDenied');
    await serving!.stop();
  });
});
