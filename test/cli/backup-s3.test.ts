import { mkdtemp, rm } from 'node:fs/promises';

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fastFolder } from '../support/disks/fast-folder.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import type { Run } from '../support/programs/program.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { freePort } from '../support/runs/free-port.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';

const env = {
  STILLAGE_BACKUP_PASSPHRASE: 'correct horse battery staple',
  AWS_ACCESS_KEY_ID: bob.accessKeyId,
  AWS_SECRET_ACCESS_KEY: bob.secretAccessKey,
};
const large = Buffer.alloc(20_000_000, 'large ');

let folder: string;
let service: Service;
let store: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(await fastFolder(), 'stillage-backup-s3-'));
  [service, store] = await Promise.all([startService({ data: join(folder, 'data') }), startService()]);
  const client = new PooledClient(service);
  await client.send({ method: 'PUT', path: '/bucket' });
  await client.send({ method: 'PUT', path: '/bucket/small', body: 'small' });
  await client.send({ method: 'PUT', path: '/bucket/large', body: large });
  client.close();
  const other = new PooledClient(store, bob);
  expect((await other.send({ method: 'PUT', path: '/backups' })).status).toBe(200);
  other.close();
});
afterAll(async () => {
  await Promise.all([service.stop(), store.stop()]);
  await rm(folder, { recursive: true });
});

const target = (): string => `s3://backups/of/this?endpoint=${store.url}&region=us-east-1`;
const run = (args: readonly string[], more = {}): Promise<Run> => runWarm(args, { ...env, ...more });

describe('backups in an S3', () => {
  it('are made, listed, verified, pruned and restored like those in a directory', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { code, stderr } = await run(['backup', 'create', target(), '--data', service.data]);
      expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    }
    expect(JSON.parse((await run(['backup', 'list', target(), '--json'])).stdout)).toHaveLength(2);
    expect((await run(['backup', 'verify', target()])).stdout).toMatch(/^checked 2 backups in .*: sound\n$/);
    expect((await run(['backup', 'prune', target(), '--keep-last', '1'])).code).toBe(0);
    const data = join(folder, 'restored');
    const { code, stderr } = await run(['restore', target(), '--data', data]);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const copy = await startService({ data });
    const client = new PooledClient(copy, alice);
    expect((await client.send({ path: '/bucket/large' })).body.equals(large)).toBe(true);
    client.close();
    await copy.stop();
  });

  it('outlast a store that is away for a while', async () => {
    const [port, data] = [await freePort(), join(folder, 'store')];
    const startStore = (): Promise<Service> => startService({ data, args: ['--port', String(port)] });
    const first = await startStore();
    const client = new PooledClient(first, bob);
    expect((await client.send({ method: 'PUT', path: '/backups' })).status).toBe(200);
    const name = `s3://backups?endpoint=${first.url}&region=us-east-1`;
    const running = run(['backup', 'create', name, '--data', service.data]);
    await untilFound(async () =>
      (await client.send({ path: '/backups', query: 'list-type=2' })).text.includes('locks/'),
    );
    client.close();
    await first.kill();
    const again = await startStore();
    const { code, stderr } = await running;
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect((await run(['backup', 'verify', name])).code).toBe(0);
    await again.stop();
  });

  it('are refused in one line where they cannot be reached', async () => {
    const cases = [
      [`s3://missing?endpoint=${store.url}&region=us-east-1`, {}, /NoSuchBucket/],
      [target(), { AWS_SECRET_ACCESS_KEY: 'wrong' }, /SignatureDoesNotMatch/],
    ] as const;
    for (const [name, more, reason] of cases) {
      const { code, stderr } = await run(['backup', 'create', name, '--data', service.data], more);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: cannot read s3:[^\n]*\n$/)]);
      expect(stderr).toMatch(reason);
    }
    for (const name of [
      's3:',
      's3://',
      's3://bucket?prefix=a',
      's3://bucket?endpoint=ftp://there',
      's3://u:p@bucket',
    ]) {
      const { code, stderr } = await run(['backup', 'list', name]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('like s3://bucket/prefix')]);
    }
  });
});
