import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { BackupRecord } from '../../../shared/backup/backup-record.ts';
import { BackupWriter } from '../../../shared/backup/backup-writer.ts';
import { pieceBytes } from '../../../shared/backup/entry-names.ts';
import { keptOf, pruneBackups } from '../../../shared/backup/prune-backups.ts';
import { changePassphrase, keyFile } from '../../../shared/backup/repository-key.ts';
import { Repository } from '../../../shared/backup/repository.ts';
import { backupAt, restoreBackup } from '../../../shared/backup/restore-backup.ts';
import { chunks, type TableEntry } from '../../../shared/backup/table-chunks.ts';
import { TargetLock } from '../../../shared/backup/target-lock.ts';
import { verifyBackups, type BackupFinding } from '../../../shared/backup/verify-backups.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import { untilFound } from '../../support/runs/eventually.ts';
import { MemoryTarget } from '../../support/backup/memory-target.ts';

const randomness = new CryptoRandomness();
const passphrase = Buffer.from('correct horse');
const day = 24 * 60 * 60 * 1000;

const target = new MemoryTarget();
let key: Uint8Array;
let repository: Repository;
beforeAll(async () => {
  repository = await Repository.openOrCreate(target, passphrase, randomness);
  key = (await target.get(keyFile))!;
});
beforeEach(async () => {
  target.files.clear();
  target.room = Infinity;
  target.busy = () => Promise.resolve();
  await target.put(keyFile, key);
});

/** What a data directory has. */
interface Data {
  readonly items: Readonly<Record<string, string>>;
  readonly blobs: Readonly<Record<string, Buffer>>;
}

async function backUp({ items, blobs }: Data, at = Date.now()): Promise<BackupRecord> {
  const writer = await BackupWriter.begin(repository);
  const entries = Object.entries(items)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]): TableEntry => ({ database: 'items', key: Buffer.from(key), value: Buffer.from(value) }));
  for (const { bytes } of chunks(entries, hash)) await writer.addChunk(bytes);
  for (const [ref, bytes] of Object.entries(blobs)) {
    if (writer.useBlob(ref)) continue;
    const of = Math.max(1, Math.ceil(bytes.length / pieceBytes));
    for (let piece = 0; piece < of; piece += 1) {
      const start = piece * pieceBytes;
      await writer.addPiece(ref, piece, of, async () => bytes.subarray(start, start + pieceBytes));
    }
  }
  const id = `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z-${Buffer.from(randomness.bytes(3)).toString('hex')}`;
  const rest = { took: 0, unread: 0, examples: [], files: {}, program: '0', items: entries.length };
  return writer.finish(
    (written) => ({ id, at, ...written, ...rest }),
    async () => undefined,
  );
}

/** Returns data as it can be compared: blobs by their digests. */
function digested({ items, blobs }: Data): unknown {
  const digests = Object.entries(blobs).map(([ref, bytes]) => [ref, createHash('sha256').update(bytes).digest('hex')]);
  return { items, blobs: Object.fromEntries(digests) as unknown };
}

async function expectRestored(record: BackupRecord, data: Data): Promise<void> {
  expect(digested(await restore(record))).toEqual(digested(data));
}

async function restore(record: BackupRecord): Promise<Data> {
  const items: Record<string, string> = {};
  const blobs: Record<string, Buffer> = {};
  await restoreBackup(
    repository,
    record,
    {
      entry: async ({ key, value }) => void (items[key.toString()] = value.toString()),
      blob: async (ref, start, bytes) => {
        const before = blobs[ref] ?? Buffer.alloc(0);
        const whole = Buffer.alloc(Math.max(before.length, start + bytes.length));
        before.copy(whole);
        bytes.copy(whole, start);
        blobs[ref] = whole;
      },
    },
    () => undefined,
  );
  return { items, blobs };
}

async function findings(quick = false): Promise<readonly BackupFinding[]> {
  const found: BackupFinding[] = [];
  await verifyBackups(repository, { onFinding: (one) => found.push(one), onProgress: () => undefined }, { quick });
  return found;
}

function hash(key: Buffer): number {
  return crc32(key);
}

function manyItems(count: number, change = -1): Record<string, string> {
  const value = (at: number): string => `${at} `.repeat(40) + (at === change ? 'changed' : '');
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`item-${String(at).padStart(6, '0')}`, value(at)]),
  );
}

const some: Data = {
  items: manyItems(3000),
  blobs: {
    small: Buffer.from('small'),
    empty: Buffer.alloc(0),
    large: Buffer.alloc(2 * pieceBytes + 100, 'large '),
  },
};

describe('a backup', () => {
  it('is restored as it was', async () => {
    const record = await backUp(some);
    expect(record).toMatchObject({ items: 3000, blobs: 3 });
    await expectRestored(await backupAt(repository, undefined), some);
    expect(await findings()).toEqual([]);
  });

  it('is whole also if the target takes packs when later ones are being filled', async () => {
    target.busy = () => setImmediate();
    const large = Buffer.alloc(15 * pieceBytes);
    for (let at = 0; at < large.length; at += pieceBytes) large.fill(at / pieceBytes, at, at + pieceBytes);
    const data = { items: some.items, blobs: { large } };
    const record = await backUp(data);
    expect(target.names('packs/')).toHaveLength(5);
    await expectRestored(record, data);
  });

  it('has no more in memory the more blobs there are, however slow the target is', async () => {
    const piece = Buffer.alloc(pieceBytes);
    const writing: (() => void)[] = [];
    target.busy = (name) => (name.startsWith('packs/') ? new Promise<void>((resolve) => writing.push(resolve)) : done);
    const done = Promise.resolve();
    const writer = await BackupWriter.begin(repository);
    let read = 0;
    const adding = inParallel(
      Array.from({ length: 100 }, (_, number) => `blob-${number}`),
      8,
      (ref) =>
        writer.addPiece(ref, 0, 2, async () => {
          read += 1;
          return piece;
        }),
    );
    const ahead: number[] = [];
    for (let written = 0; written < 15; written += 1) {
      await untilFound(() => writing.length > 0);
      // So that all go on that can.
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      ahead.push(read - written * 4);
      writing.shift()!();
    }
    target.busy = () => done;
    for (const resolve of writing) resolve();
    await adding;
    await writer.abandon();
    // Those in three packs that are written, and one for each that waits.
    expect(Math.max(...ahead)).toBeLessThanOrEqual(3 * 4 + 8);
  });

  it('adds only what changed', async () => {
    const first = await backUp(some);
    const again = await backUp(some);
    expect(again.added).toBe(0);
    const more = { items: manyItems(3000, 1500), blobs: { ...some.blobs, new: Buffer.from('new') } };
    const next = await backUp(more);
    expect(next.added).toBeGreaterThan(0);
    expect(next.added).toBeLessThan(first.added / 10);
    await expectRestored(next, more);
    await expectRestored(first, some);
  });

  it('shows nothing of its contents, nor of the names that it gives to them', async () => {
    await backUp(some);
    for (const [name, { bytes }] of target.files) {
      expect(Buffer.from(bytes).includes('large large'), name).toBe(false);
      expect(Buffer.from(bytes).includes('item-0'), name).toBe(false);
    }
  });

  it('uses what one that was killed has written', async () => {
    const killed = await BackupWriter.begin(repository);
    const bytes = some.blobs['large']!;
    for (let number = 0; number < 5; number += 1) {
      await killed.addPiece(`large-${number}`, 0, 2, async () => bytes.subarray(0, pieceBytes));
    }
    await killed.abandon();
    expect(target.names('packs/')).toHaveLength(1);
    expect(target.names('index/')).toEqual([]);
    const whole = bytes.subarray(0, pieceBytes + 10);
    const record = await backUp({ items: {}, blobs: { 'large-0': whole, 'large-9': whole } });
    expect(record.added).toBeLessThan(pieceBytes + 10_000);
    expect((await restore(record)).blobs['large-0']!.equals(whole)).toBe(true);
  });

  it('is not recorded if a file cannot be written', async () => {
    target.room = 1;
    await expect(backUp(some)).rejects.toThrow('it is full');
    expect(await repository.backupIds()).toEqual([]);
    target.room = Infinity;
    await expectRestored(await backUp(some), some);
  });

  it('is found by its time', async () => {
    const times = [0, 1, 2].map((number) => Date.UTC(2026, 0, 1 + number, 12));
    for (const at of times) await backUp({ items: { at: String(at) }, blobs: {} }, at);
    const found = async (to?: number): Promise<number> => (await backupAt(repository, to)).at;
    expect(await found()).toBe(times[2]);
    expect(await found(times[1])).toBe(times[1]);
    expect(await found(times[2]! - 1000)).toBe(times[1]);
    await expect(found(times[0]! - 1000)).rejects.toThrow(/no backup of that time or before: the oldest is 2026-01-01/);
  });
});

describe('damage', () => {
  it('of any file is found, and nothing damaged is restored', async () => {
    const record = await backUp(some);
    for (const name of target.names('packs/')) {
      const { bytes } = target.files.get(name)!;
      for (const at of [0, 9, 10, 41, 42, bytes.length >> 1, bytes.length - 1]) {
        target.damage(name, at);
        expect(await findings(), `${name} at ${at}`).toMatchObject([
          { where: `pack ${name.slice('packs/ab/'.length)}`, backups: [record.id] },
        ]);
        await expect(restore(record)).rejects.toThrow(/cannot be used/);
        target.damage(name, at);
      }
    }
    expect(await findings()).toEqual([]);
    const [backup] = target.names('backups/');
    target.damage(backup!);
    expect(await findings()).toMatchObject([{ where: backup, backups: [record.id] }]);
    await expect(backupAt(repository, undefined)).rejects.toThrow(/is damaged/);
  });

  it('of an index costs time, and of a pack new ones', async () => {
    await backUp(some);
    for (const name of target.names('index/')) target.damage(name);
    expect((await backUp(some)).added).toBe(0);
    await target.remove(target.names('packs/').slice(0, 1));
    expect(await findings(true)).toMatchObject([{ what: 'it is missing' }]);
    const record = await backUp(some);
    expect(record.added).toBeGreaterThan(0);
    await expectRestored(record, some);
  });

  it('of a record is not taken for another backup', async () => {
    const [one, other] = [await backUp(some, Date.UTC(2026, 1)), await backUp(some, Date.UTC(2026, 2))];
    target.files.set(`backups/${one.id}`, target.files.get(`backups/${other.id}`)!);
    await expect(repository.backup(one.id)).rejects.toThrow(/is damaged/);
  });
});

describe('the key of a repository', () => {
  it('is opened by its passphrase alone, which can be changed', async () => {
    const record = await backUp(some);
    const other = Buffer.from('another');
    await expect(Repository.open(target, other, randomness)).rejects.toThrow(/^the passphrase is not that of /);
    await changePassphrase(target, passphrase, other, randomness);
    await expect(Repository.open(target, passphrase, randomness)).rejects.toThrow(/^the passphrase is not that of /);
    repository = await Repository.open(target, other, randomness);
    await expectRestored(record, some);
  });

  it('is that of the first of two processes', async () => {
    const empty = new MemoryTarget();
    const both = await Promise.all([1, 2].map(() => Repository.openOrCreate(empty, passphrase, randomness)));
    expect(both[0]!.keys.content).toEqual(both[1]!.keys.content);
  });

  it('is not created among other files', async () => {
    const other = new MemoryTarget();
    await other.put('photo.jpg', Buffer.alloc(1));
    await expect(Repository.openOrCreate(other, passphrase, randomness)).rejects.toThrow(
      /has other files \(photo.jpg\)/,
    );
    await expect(Repository.open(new MemoryTarget(), passphrase, randomness)).rejects.toThrow(/has no backups/);
  });
});

describe('a prune', () => {
  const holder = { host: 'here', pid: 1, hasEnded: () => false };
  const lockDeps = () => ({ target, clock: new SystemClock(), randomness, holder });

  it('keeps what other backups need, and removes the rest', async () => {
    const first = await backUp(
      { items: manyItems(500), blobs: { a: Buffer.alloc(100_000, 1), b: Buffer.from('b') } },
      Date.UTC(2026, 1, 1),
    );
    const second = await backUp({ items: manyItems(500), blobs: { b: Buffer.from('b') } }, Date.UTC(2026, 1, 2));
    const own: Data = { items: manyItems(500), blobs: { c: Buffer.alloc(200_000, 3) } };
    await backUp(own, Date.UTC(2026, 1, 3));
    const lock = await TargetLock.take(lockDeps(), 'remove');
    expect((await pruneBackups(repository, { last: 2 }, undefined)).removed).toEqual([first.id]);
    expect(await repository.backupIds()).toHaveLength(3);
    const pruned = await pruneBackups(repository, { last: 2 }, lock);
    expect(pruned).toMatchObject({ removed: [first.id], packs: 0 });
    expect((await restore(second)).blobs).toEqual({ b: Buffer.from('b') });
    // Left by a backup that was killed.
    await target.put(`packs/00/${'00'.repeat(32)}`, Buffer.alloc(100));
    const last = await pruneBackups(repository, { last: 1 }, lock);
    // With the pack that only the second one needed.
    expect(last.packs).toBe(2);
    expect(await findings()).toEqual([]);
    await expectRestored(await backupAt(repository, undefined), own);
    expect((await backUp(own)).added).toBe(0);
    await lock.release();
    expect(target.names('locks/')).toEqual([]);
  });

  it('removes nothing if a backup that it keeps cannot be read', async () => {
    await backUp({ items: { a: '1' }, blobs: {} }, Date.UTC(2026, 1, 1));
    await backUp({ items: { a: '2' }, blobs: {} }, Date.UTC(2026, 1, 2));
    target.damage(target.names('backups/')[1]!);
    const before = target.names('');
    const lock = await TargetLock.take(lockDeps(), 'remove');
    await expect(pruneBackups(repository, { last: 1 }, lock)).rejects.toThrow(/is damaged/);
    await lock.release();
    expect(target.names('')).toEqual(before);
  });

  it('keeps the newest of each period', () => {
    const start = Date.UTC(2026, 0, 1, 1);
    const ids = Array.from({ length: 120 }, (_, number) => {
      const time = new Date(start + number * (day / 2)).toISOString().slice(0, 19).replaceAll(':', '-');
      return `${time}Z-abcdef`;
    });
    const kept = (keep: Parameters<typeof keptOf>[1]): string[] =>
      [...keptOf(ids, keep)].map((id) => id.slice(0, 13)).sort();
    expect(kept({ last: 2 })).toEqual(['2026-03-01T01', '2026-03-01T13']);
    expect(kept({ daily: 3 })).toEqual(['2026-02-27T13', '2026-02-28T13', '2026-03-01T13']);
    expect(kept({ weekly: 2 })).toEqual(['2026-02-22T13', '2026-03-01T13']);
    expect(kept({ monthly: 12 })).toEqual(['2026-01-31T13', '2026-02-28T13', '2026-03-01T13']);
    expect(kept({ yearly: 1, last: 2 })).toEqual(['2026-03-01T01', '2026-03-01T13']);
    expect(kept({ hourly: 1 })).toEqual(['2026-03-01T13']);
  });

  it('excludes backups, and they exclude it, but for processes that have ended', async () => {
    const adds = await Promise.all([1, 2].map(() => TargetLock.take(lockDeps(), 'add')));
    await expect(TargetLock.take(lockDeps(), 'remove')).rejects.toThrow(/^process 1 on here uses memory/);
    expect(target.names('locks/')).toHaveLength(2);
    await adds[0]!.release();
    const ended = { ...lockDeps(), holder: { host: 'here', pid: 2, hasEnded: (_: string, pid: number) => pid === 1 } };
    const remove = await TargetLock.take(ended, 'remove');
    await expect(adds[1]!.check()).rejects.toThrow(/was lost/);
    await expect(TargetLock.take(lockDeps(), 'add')).rejects.toThrow(/^process 2 on here removes backups from memory/);
    // By the clock of the target, it has not been written for longer than a lock counts.
    target.now += 11 * 60_000;
    await (await TargetLock.take(lockDeps(), 'add')).release();
    await Promise.all([adds[1]!.release(), remove.release()]);
  });
});

describe('chunks of a table', () => {
  it('begin at the same keys where nothing changed', () => {
    const of = (items: Record<string, string>): string[] =>
      [
        ...chunks(
          Object.entries(items).map(([key, value]) => ({
            ...({ database: 'items' } as const),
            ...{ key: Buffer.from(key), value: Buffer.from(value) },
          })),
          hash,
        ),
      ].map(({ bytes }) => bytes.toString('latin1'));
    const [before, after] = [of(manyItems(5000)), of(manyItems(5000, 2000))];
    expect(before.length).toBeGreaterThan(5);
    expect(after.filter((chunk) => !before.includes(chunk)).length).toBeLessThanOrEqual(2);
    const sizes = before.slice(0, -1).map((chunk) => chunk.length);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(16 * 1024);
    expect(Math.max(...sizes)).toBeLessThan(300 * 1024);
  });
});
