import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TablePages } from '../../shared/adapters/embedded/table-file/table-pages.ts';
import { sdk } from '../support/clients/clients.ts';
import { runProgram } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';

/** Flipped bits in each kind of page of a real table: what the start, the doctor and a rescue say and do. */

const objects = 600;
const pageSize = 4096;

let folder: string;
let sound: string;
let bytes: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'damaged-pages-'));
  sound = join(folder, 'sound');
  const service = await startService({ data: sound });
  const client = sdk(service);
  await client.send(new CreateBucketCommand({ Bucket: 'photos' }));
  for (let start = 0; start < objects; start += 40) {
    const keys = Array.from({ length: 40 }, (_, at) => `key-${start + at}`);
    const write = (Key: string): Promise<unknown> =>
      client.send(new PutObjectCommand({ Bucket: 'photos', Key, Body: Key.repeat(20 + (start % 7) * 100) }));
    await Promise.all(keys.map(write));
    await client.send(new DeleteObjectCommand({ Bucket: 'photos', Key: keys[0]! }));
  }
  client.destroy();
  expect(await service.stop()).toBe(0);
  bytes = await readFile(tableOf(sound));
});
afterAll(() => rm(folder, { recursive: true }));

const tableOf = (data: string): string => join(data, 'table', 'data.mdb');

/** A copy of the directory, in whose table bits of a byte are flipped. */
async function flipped(at: number, bits: number): Promise<string> {
  const data = await mkdtemp(join(folder, 'copy-'));
  await cp(sound, data, { recursive: true });
  const changed = Buffer.from(bytes);
  changed[at]! ^= bits;
  await writeFile(tableOf(data), changed);
  return data;
}

/** The entries of a table, as text, by their databases. */
async function entriesOf(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const pages = (await TablePages.open(path))!;
  await pages.walk({
    onEntry: ({ database, key, value }) =>
      void found.add(`${database} ${key.toString('hex')} ${value.toString('hex')}`),
    onDamage: () => true,
  });
  await pages.close();
  return found;
}

const metaOfNewest = (): number => (bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(pageSize + 152) ? 0 : pageSize);
const rootOf = (tree: number): number => Number(bytes.readBigUInt64LE(metaOfNewest() + 24 + tree + 40));
const freeTree = 24;
const mainTree = 72;

/** The root page of the items. */
function rootOfItems(): number {
  const main = bytes.subarray(rootOf(mainTree) * pageSize, (rootOf(mainTree) + 1) * pageSize);
  const name = main.indexOf('items');
  return Number(main.readBigUInt64LE(main.indexOf(0, name) + 1 + 40 - (main[name + 5] === 0 ? 0 : 1)));
}

/** The number of a leaf page of a database, not the first. */
async function leafOf(database: string): Promise<number> {
  const leaves = new Set<number>();
  const pages = (await TablePages.open(tableOf(sound)))!;
  await pages.walk({
    // A key is a part of its page, which begins with its number.
    onEntry: ({ database: of, key }) => {
      if (of === database) leaves.add(Number(new DataView(key.buffer).getBigUint64(0, true)));
    },
    onDamage: () => true,
  });
  await pages.close();
  return [...leaves][Math.min(1, leaves.size - 1)]!;
}

describe('a table with flipped bits', () => {
  it.each<readonly [string, () => number, number]>([
    ['the kind of the first page', () => 18, 0x08],
    ['the magic number of the first page', () => 24, 0x01],
    ['the version of the first page', () => 28, 0x02],
    ['the magic number of the second page', () => pageSize + 24, 0x01],
    ['the size of pages', () => 24 + 24 + 1, 0x10],
    ['the greatest byte of the size of the map', () => metaOfNewest() + 24 + 16 + 7, 0x40],
    ['the root of the free pages', () => metaOfNewest() + 24 + freeTree + 40 + 5, 0x01],
    ['the root of the main tree', () => metaOfNewest() + 24 + mainTree + 40 + 5, 0x01],
    ['the last page', () => metaOfNewest() + 24 + 120 + 6, 0x01],
    ['the transaction', () => metaOfNewest() + 24 + 128 + 2, 0x01],
    ['the kind of the root of the free pages', () => rootOf(freeTree) * pageSize + 18, 0x03],
    ['the number of the root of the free pages', () => rootOf(freeTree) * pageSize, 0x01],
    ['the first entry of the root of the free pages', () => rootOf(freeTree) * pageSize + 25, 0x40],
    ['the kind of the root of the main tree', () => rootOf(mainTree) * pageSize + 18, 0x03],
  ])('is refused by the start in one line, and is damaged to the doctor: %s', async (_, at, bits) => {
    const data = await flipped(at(), bits);
    const examined = await runProgram(['doctor', '--data', data]);
    expect({ code: examined.code, stdout: examined.stdout, stderr: examined.stderr }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^(page|table-file) {2}/m) as string,
      stderr: '',
    });
    const start = await runProgram(['start', '--port', '0', '--data', data]);
    expect({ code: start.code, stderr: start.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^stillage: [^\n]+data\.mdb [^\n]+(backup|doctor)[^\n]*\n$/) as string,
    });
  });

  it('is rescued whole but for what is damaged itself, whatever separates the pages', async () => {
    const all = await entriesOf(tableOf(sound));
    const root = rootOfItems() * pageSize;
    const count = bytes.readUInt16LE(root + 20) >> 1;
    expect(bytes.readUInt16LE(root + 18) & 0x0f).toBe(0x01);
    expect(count).toBeGreaterThan(4);
    for (const node of [1, Math.floor(count / 2), count - 1]) {
      const separator = root + 24 + bytes.readUInt16LE(root + 24 + 2 * node) + 8;
      for (const bits of [0x01, 0x80]) {
        const data = await flipped(separator, bits);
        const target = `${data}-rescued`;
        const { code, stdout } = await runProgram(['doctor', '--data', data, '--rescue', target]);
        expect([code, stdout]).toEqual([1, expect.stringMatching(/^page {2}\d+: its keys are not in order; lost: /m)]);
        const rescued = await entriesOf(tableOf(target));
        expect([...all].filter((entry) => !rescued.has(entry))).toEqual([]);
        await rm(target, { recursive: true });
      }
    }
  });

  it('loses one item by one flipped key of a leaf page that puts it out of order', async () => {
    const all = await entriesOf(tableOf(sound));
    const root = rootOfItems() * pageSize;
    const at = root + 24 + bytes.readUInt16LE(root + 24 + 4);
    const leaf = (bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32) * pageSize;
    expect(bytes.readUInt16LE(leaf + 18) & 0x0f).toBe(0x02);
    const data = await flipped(leaf + 24 + bytes.readUInt16LE(leaf + 26) + 8, 0x80);
    const target = `${data}-rescued`;
    await runProgram(['doctor', '--data', data, '--rescue', target]);
    const rescued = await entriesOf(tableOf(target));
    expect([...all].filter((entry) => !rescued.has(entry))).toHaveLength(1);
  });

  it.each(['items', 'feed'])('fails a scrub in one line if a leaf page of %s is damaged', async (database) => {
    const data = await flipped((await leafOf(database)) * pageSize + 18, 0x03);
    const { code, stderr } = await runProgram(['scrub', '--data', data]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^stillage: [^\n]+ is damaged: page \d+: [^\n]+ stillage doctor [^\n]+\n$/,
      ) as string,
    });
  });

  it('is said in one line by the start after the process of a service has died, before the engine ends that one as well', async () => {
    const data = await flipped(0, 0);
    const service = await startService({ data });
    const changed = Buffer.from(bytes);
    changed[(await leafOf('items')) * pageSize + 18]! ^= 0x03;
    // The death of its process, by whatever page it reads first.
    await service.kill();
    await writeFile(tableOf(data), changed);
    const next = await runProgram(['start', '--port', '0', '--data', data], { killAfter: 10_000 });
    expect(next.stderr).toMatch(/^stillage: warning: [^\n]+ is damaged: page \d+: [^\n]+ stillage doctor [^\n]+\n/);
  });

  it('is not said of a sound table, however its service ended', async () => {
    const data = await flipped(0, 0);
    const service = await startService({ data });
    await service.kill();
    const next = await startService({ data });
    expect(next.output.stderr).not.toContain('damaged');
    await next.kill();
  });
});
