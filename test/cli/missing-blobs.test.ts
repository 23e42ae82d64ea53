import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { startService } from '../support/programs/server.ts';

const body = Buffer.alloc(100_000, 'large');

let folder: string;
let data: string;
let blobs: string;
let mounted: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-blobs-'));
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  const parent = await mkdtemp(join(folder, 'case-'));
  [data, blobs, mounted] = [join(parent, 'data'), join(parent, 'data', 'blobs'), join(parent, 'disk')];
  const service = await startService({ data });
  const client = new PooledClient(service);
  await client.send({ method: 'PUT', path: '/bucket' });
  expect((await client.send({ method: 'PUT', path: '/bucket/large', body })).status).toBe(200);
  client.close();
  expect(await service.stop()).toBe(0);
});

/** Leaves an empty directory in the place of the blobs, as if their disk were not mounted. */
async function unmount(): Promise<void> {
  await rename(blobs, mounted);
  await mkdir(blobs);
}

async function mount(): Promise<void> {
  await rm(blobs, { recursive: true });
  await rename(mounted, blobs);
}

/** Makes the directory as an earlier version left it. */
async function makeFormer(): Promise<void> {
  const marks = (await readdir(blobs)).filter((name) => name.startsWith('store-'));
  await Promise.all(marks.map((name) => rm(join(blobs, name))));
  const table = await LmdbTable.open(join(data, 'table'));
  await table.write([{ key: itemKey.deployment('blobs'), delete: true }]);
  await table.close();
}

async function expectRefused(): Promise<void> {
  for (const command of [['start', '--port', '0'], ['customer', 'list'], ['scrub']]) {
    const words = [...command, '--data', data];
    const { code, stderr } = await (command[0] === 'start' ? runProgram(words) : runWarm(words));
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringMatching(/^stillage: --data: cannot use [^\n]+blobs [^\n]+: mount their disk there, or [^\n]+\n$/),
    ]);
  }
  expect(await readdir(blobs)).toEqual([]);
}

async function expectServed(): Promise<void> {
  const service = await startService({ data });
  const client = new PooledClient(service);
  expect((await client.send({ path: '/bucket/large' })).body.equals(body)).toBe(true);
  client.close();
  expect(await service.stop()).toBe(0);
}

describe('a directory of blobs whose disk is not mounted', () => {
  it('is refused, left empty, and used again when it is mounted', async () => {
    await unmount();
    await expectRefused();
    await mount();
    await expectServed();
  });

  it('is refused also if an earlier version was started on it', async () => {
    await unmount();
    await mkdir(join(blobs, '00'));
    const { code, stderr } = await runProgram(['start', '--port', '0', '--data', data]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is not the directory of its blobs, which has a file store-/),
    ]);
  });
});

describe('a directory of an earlier version', () => {
  it('gets its mark, and is refused without its disk from then on', async () => {
    await makeFormer();
    await expectServed();
    await unmount();
    await expectRefused();
    await mount();
    await expectServed();
  });

  it('is refused if its disk is not mounted when it is first used', async () => {
    await makeFormer();
    await unmount();
    await expectRefused();
    await mount();
    await expectServed();
  });
});
