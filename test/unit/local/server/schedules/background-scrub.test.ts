import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BackgroundScrub, scrubInterval } from '../../../../../local/server/schedules/background-scrub.ts';
import { scrubState } from '../../../../../local/server/schedules/scrub-state.ts';
import { scrubStatusText } from '../../../../../local/cli/scrub-status.ts';
import { FileBlobStore } from '../../../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../../../../shared/adapters/embedded/table/lmdb-table.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import { Manifests } from '../../../../../shared/storage/objects/manifests.ts';
import { currentVersionKey } from '../../../../../shared/storage/version-changes/version-chain.ts';
import type { Clock } from '../../../../../shared/ports/clock.ts';
import { day } from '../../../../../shared/ports/durations.ts';

const MiB = 1024 * 1024;
const owner = { bucketId: 'b1', key: 'key' };

/** A clock that is ahead of the real one, and on which waiting takes no real time. */
class AheadClock implements Clock {
  ahead = 2 * day;
  waited = 0;
  waits = 0;
  onSleep = (): void => undefined;

  now(): number {
    return Date.now() + this.ahead;
  }

  async sleep(milliseconds: number): Promise<void> {
    this.waited += milliseconds;
    this.waits += 1;
    this.ahead += milliseconds;
    this.onSleep();
  }
}

let directory: string;
let environment: LmdbEnvironment;
let table: LmdbTable;
let blobs: FileBlobStore;
let clock: AheadClock;
let problems: string[];
let notes: unknown[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-scrub-'));
  environment = await LmdbEnvironment.open(join(directory, 'table'));
  table = new LmdbTable(environment, { isFollowed: () => false });
  blobs = await FileBlobStore.open(join(directory, 'blobs'), environment);
  clock = new AheadClock();
  problems = [];
  notes = [];
});

afterEach(async () => {
  await table.close();
  await rm(directory, { recursive: true });
});

function scrub(pace = MiB): BackgroundScrub {
  const telemetry = {
    request: () => undefined,
    problem: (message: string, _: unknown, fields?: object) =>
      void problems.push(`${message} ${JSON.stringify(fields)}`),
    note: (_: string, fields?: object) => void notes.push(fields),
  };
  return new BackgroundScrub({ table, blobs, clock, telemetry }, pace);
}

async function write(size: number, fill = 'x', key = owner.key): Promise<string> {
  const { ref } = await blobs.write(
    (async function* () {
      yield Buffer.alloc(size, fill);
    })(),
    { ...owner, key },
  );
  // Small blobs and checksums wait for a transaction.
  await environment.run(() => undefined);
  return ref;
}

const pathOf = (ref: string): string => join(directory, 'blobs', ref.slice(0, 2), ref);

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length - 1]! ^= 1;
  await writeFile(path, bytes);
}

/** Gives a blob the name that a version without checksums would have given it. */
async function former(ref: string): Promise<string> {
  const name = `${ref.slice(0, 2)}-${ref.slice(3)}`;
  await rename(pathOf(ref), pathOf(name));
  await environment.run(() => void environment.database('checksums', { encoding: 'binary' }).remove(ref));
  return name;
}

/** A version of a megabyte whose content is one blob. */
const version = (ref: string, content: string) => ({
  i: '0',
  l: 0,
  s: MiB,
  c: `b${ref}`,
  e: createHash('md5').update(content).digest(),
  r: 't',
});

it('reads every blob at its pace, and records what it has read', async () => {
  await write(1000);
  await write(3 * MiB);
  await scrub(MiB / 2).run();
  expect(clock.waited).toBeCloseTo(((3 * MiB + 1000) / (MiB / 2)) * 1000, 0);
  expect(notes).toEqual([{ blobs: 2, bytes: 3 * MiB + 1000, checksummed: 0, damaged: 0 }]);
  const { current, finished } = await scrubState(table);
  expect(current).toBeUndefined();
  expect(finished).toMatchObject({ blobs: 2, damaged: 0, parts: { read: 257, of: 257 } });
  expect(scrubStatusText({ finished: finished! })).toMatch(/^finished 2\S+Z: 2 blobs \(3 MiB\) read, 0 damaged\n$/);
});

it('finds damaged blobs, large and small, and says what they were written for', async () => {
  const large = await write(3 * MiB);
  await flip(pathOf(large));
  const small = await write(1000);
  const database = environment.database<Buffer, string>('blobs', { encoding: 'binary' });
  const value = Buffer.from(database.getBinary(small)!);
  value[value.length - 1]! ^= 1;
  await environment.run(() => void database.put(small, value));
  await write(2 * MiB);
  await scrub().run();
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain(`blob ${small} does not match its checksum`);
  expect(problems[1]).toMatch(new RegExp(`blob ${large} has other bytes .* restore them from a backup .*"key":"key"`));
  const { finished } = await scrubState(table);
  expect(finished).toMatchObject({
    blobs: 3,
    damaged: 2,
    examples: [
      { ref: small, ...owner },
      { ref: large, ...owner },
    ],
  });
  expect(scrubStatusText({ finished: finished! })).toContain('  damaged  blob ');
});

it('leaves young blobs alone, and files whose write never finished', async () => {
  const unfinished = await write(2 * MiB);
  await environment.run(() => void environment.database('checksums', { encoding: 'binary' }).remove(unfinished));
  await scrub().run();
  expect(problems).toEqual([]);
  clock = new AheadClock();
  clock.ahead = scrubInterval;
  await flip(pathOf(await write(MiB)));
  const young = new AheadClock();
  young.ahead = scrubInterval + 3 * day;
  // Written at the real time: now is less than a day later for this clock only.
  clock.ahead = 0;
  await table.write([{ key: { pk: 'deployment', sk: 'scrub' }, delete: true }]);
  await scrub().run();
  expect((await scrubState(table)).finished).toMatchObject({ blobs: 0 });
  clock = young;
  await scrub().run();
  expect((await scrubState(table)).finished).toMatchObject({ blobs: 2, damaged: 1 });
});

it('reports a blob without checksums that an object or one of its parts refers to', async () => {
  const [whole, part, unfinished] = [
    await write(2 * MiB),
    await write(2 * MiB, 'x', 'parts'),
    await write(2 * MiB, 'x', 'nothing'),
  ];
  const manifest = await new Manifests({ table, clock, randomness: new CryptoRandomness() }).create([
    { number: 1, size: 2 * MiB, blob: part, checksum: undefined },
  ]);
  await table.write([
    { key: currentVersionKey(owner.bucketId, owner.key), put: version(whole, '') },
    { key: currentVersionKey(owner.bucketId, 'parts'), put: { ...version(part, ''), c: `m${manifest}` } },
  ]);
  const checksums = environment.database('checksums', { encoding: 'binary' });
  await environment.run(() => [whole, part, unfinished].forEach((ref) => void checksums.remove(ref)));
  await scrub().run();
  expect(problems.map((problem) => /blob (\S+) has lost its checksums/.exec(problem)?.[1]).sort()).toEqual(
    [whole, part].sort(),
  );
  expect((await scrubState(table)).finished).toMatchObject({ blobs: 3, damaged: 2 });
});

it('begins the next pass after 28 days, also if the clock was set back', async () => {
  await write(MiB);
  await scrub().run();
  await scrub().run();
  clock.ahead += scrubInterval - day;
  await scrub().run();
  expect(notes).toHaveLength(1);
  clock.ahead += 2 * day;
  await scrub().run();
  expect(notes).toHaveLength(2);
  const { finished } = await scrubState(table);
  clock.ahead -= 3 * scrubInterval;
  await scrub().run();
  expect((await scrubState(table)).finished!.startedAt).toBeLessThan(finished!.startedAt);
});

it('goes on where it was stopped', async () => {
  for (let at = 0; at < 40; at += 1) await write(MiB);
  const first = scrub();
  const before = clock.waited;
  clock.onSleep = () => {
    if (clock.waited - before > 30_000) first.stop();
    // Enough time for the state to be recorded after every part.
    clock.ahead += 61_000;
  };
  await first.run();
  const { current } = await scrubState(table);
  expect(current!.parts.read).toBeGreaterThan(100);
  expect(notes).toEqual([]);
  clock.onSleep = () => undefined;
  await scrub().run();
  expect(notes).toEqual([{ blobs: 40, bytes: 40 * MiB, checksummed: 0, damaged: 0 }]);
  // Only the part in which the first scrub was stopped is read again.
  expect(clock.waited - before).toBeLessThan(50_000);
});

it('stops within a blob of an earlier version, and says nothing of it', async () => {
  const ref = await former(await write(3 * MiB));
  const first = scrub();
  clock.onSleep = () => first.stop();
  await first.run();
  expect(clock.waits).toBe(1);
  expect(await blobs.describe(ref)).toMatchObject({ isUnverified: true });
  expect([problems, notes]).toEqual([[], []]);
});

it('gives checksums to blobs of earlier versions, unless their bytes are not those of their object', async () => {
  const right = await former(await write(MiB, 'r', 'right'));
  const wrong = await former(await write(MiB, 'w'));
  for (const [key, ref, fill] of [
    ['right', right, 'r'],
    ['key', wrong, 'x'],
  ] as const) {
    await table.write([
      { key: currentVersionKey(owner.bucketId, key), put: version(ref, Buffer.alloc(MiB, fill).toString()) },
    ]);
  }
  await scrub().run();
  expect(await blobs.describe(right)).not.toHaveProperty('isUnverified');
  expect(await blobs.describe(wrong)).toMatchObject({ isUnverified: true });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`blob ${wrong} does not match its MD5`);
  expect(notes).toEqual([{ blobs: 2, bytes: 2 * MiB, checksummed: 1, damaged: 1 }]);
  // Both are read at the pace, of a MiB a second, in two chunks each.
  expect(clock.waited).toBeCloseTo(2000, 0);
  expect(clock.waits).toBe(4);
});
