import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import {
  assertSyncedBefore,
  fileOf,
  isSync,
  traceSyncs,
  unsyncedBefore,
  whyNoTracing,
} from '../support/disks/system-calls.ts';
import type { SyncExpectation, SystemCall } from '../support/disks/system-calls.ts';

const rounds = process.env['TEST_LONG'] ? 20 : 5;
const program = join(import.meta.dirname, '../support/disks/durable-writes.ts');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-durability-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

function writing(writers: number, turns: number, run: string): [string, ...string[]] {
  return [process.execPath, '--import', 'tsx', program, directory, String(writers), String(turns), run];
}

describe('the embedded stores, killed', () => {
  /** Runs 32 writers until they are killed, and returns the blobs that they acknowledged: name → ref. */
  async function writeAndKill(run: string): Promise<Map<string, string>> {
    const [node, ...args] = writing(32, 1_000_000, run);
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise<string | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    const acknowledged = new Map<string, string>();
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'ready') {
        setTimeout(() => child.kill('SIGKILL'), 50 + Math.random() * 700);
      } else if (/^\S+ \S{30}$/.test(line)) {
        const [name, ref] = line.split(' ') as [string, string];
        acknowledged.set(name, ref);
      }
    }
    expect(await ended).toBe('SIGKILL');
    return acknowledged;
  }

  it(`lose nothing that was acknowledged, ${rounds} times over`, { timeout: rounds * 60_000 }, async () => {
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, ref] of await writeAndKill(`run${round}`)) acknowledged.set(name, ref);

      const environment = await LmdbEnvironment.open(join(directory, 'table'));
      const blobs = await FileBlobStore.open(join(directory, 'blobs'), environment);
      const table = new LmdbTable(environment);
      for (const [name, ref] of acknowledged) expect(await table.get({ pk: 'one', sk: name })).toEqual({ ref });

      const stored: string[] = [];
      for (let after = ''; ;) {
        const page = await table.query('one', { ...(after && { after }) });
        for (const { key, attributes } of page.items) {
          stored.push(key.sk);
          after = key.sk;
          expect(await table.get({ pk: 'two', sk: key.sk }), 'a transaction is there whole').toEqual(attributes);
          const chunks: Uint8Array[] = [];
          const turn = Number(key.sk.split('-').at(-1));
          const text = `${key.sk} `.repeat(turn % 2 === 0 ? 200 : 20_000);
          for await (const chunk of await blobs.read(attributes.ref as string, text.length)) chunks.push(chunk);
          expect(Buffer.concat(chunks).toString()).toBe(text);
          expect((await blobs.describe(attributes.ref as string)).owner).toEqual({ bucketId: 'bucket', key: key.sk });
        }
        if (!page.more) break;
      }
      expect(stored.length).toBeGreaterThanOrEqual(acknowledged.size);

      const told = new Set<string>();
      for (let position: string | undefined; ;) {
        const records = await table.read(position, 1000);
        if (records.length === 0) break;
        position = records.at(-1)!.position;
        for (const { key } of records) told.add(`${key.pk}/${key.sk}`);
      }
      expect(told.size, 'the feed tells of every item, and of nothing else').toBe(2 * stored.length);

      let files = 0;
      for await (const blob of blobs.list()) files += blob.ref.length > 0 ? 1 : 0;
      expect(files).toBeGreaterThanOrEqual(stored.length);
      await Promise.all([table.close(), blobs.close()]);
    }
    expect(acknowledged.size).toBeGreaterThan(0);
  });
});

describe('the embedded stores, watched', () => {
  /** The steps of one writer: the file that each must write, and the files and directories that are synced for it. */
  const turns = [
    { written: /\/table\/data\.mdb$/, synced: ['the table'] },
    { written: /\/blobs\/[0-9a-f]{2}\/[^/]{30}$/, synced: ['a blob', 'a directory of blobs', 'the table'] },
  ];
  const expectation = (turn: number): SyncExpectation => ({
    within: directory,
    except: /\/lock\.mdb$/,
    written: [turns[turn]!.written, /\/table\/data\.mdb$/],
    acknowledgement: (call) => call.name === 'write' && call.args.includes(`"watched-0-${turn} `),
  });

  it('acknowledge a write when its blob, the name of its blob and the table are synced', async (context) => {
    const reason = await whyNoTracing();
    if (reason !== undefined) context.skip(reason);

    const calls = await traceSyncs(writing(1, turns.length, 'watched'));
    const ready = calls.findIndex((call) => call.name === 'write' && call.args.includes('"ready'));
    let begin = ready;
    for (const [turn, { synced }] of turns.entries()) {
      assertSyncedBefore(calls, expectation(turn));

      // That the check can fail: it does as soon as any one of these is not there.
      const end = calls.findIndex(expectation(turn).acknowledgement);
      const needed = calls.slice(begin, end).filter(isSync);
      expect(needed.map(kindOf).sort()).toEqual(synced);
      for (const sync of needed) {
        const without = calls.filter((call) => call !== sync);
        expect(unsyncedBefore(without, expectation(turn)), `without the sync of ${kindOf(sync)}`).not.toEqual([]);
      }
      const unsynchronous = calls.map((call) => ({ ...call, args: call.args.replace('|O_DSYNC', '') }));
      expect(unsyncedBefore(unsynchronous, expectation(turn)), 'without O_DSYNC').not.toEqual([]);

      // Nor is it enough to sync too late.
      const firstWrite = calls.findIndex(
        (call, index) =>
          index > begin && /^p?write/.test(call.name) && turns[turn]!.written.test(fileOf(call)?.path ?? ''),
      );
      const acknowledgedAtOnce = calls.map((call, index) =>
        index === end ? { ...call, began: calls[firstWrite]!.ended + 0.5 } : call,
      );
      expect(unsyncedBefore(acknowledgedAtOnce, expectation(turn))).not.toEqual([]);
      begin = end;
    }

    // The names of the stores themselves are synced while they are opened.
    const opening = calls.slice(0, ready).filter((call) => call.name === 'fsync');
    for (const path of ['.', 'blobs', 'table'].map((name) => join(directory, name))) {
      const syncs = opening.filter((call) => fileOf(call)?.path === path);
      expect(syncs.length, `syncs of ${path}`).toBeGreaterThan(0);
      const without = calls.filter((call) => !syncs.includes(call));
      expect(unsyncedBefore(without, expectation(0)), `without the sync of ${path}`).not.toEqual([]);
    }
  });

  function kindOf(call: SystemCall): string {
    const path = fileOf(call)!.path.slice(directory.length);
    if (/^\/blobs\/[0-9a-f]{2}$/.test(path)) return 'a directory of blobs';
    if (path.startsWith('/blobs/')) return 'a blob';
    return path === '/table/data.mdb' ? 'the table' : path;
  }
});
