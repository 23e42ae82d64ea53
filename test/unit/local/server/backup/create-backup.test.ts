import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heldUntil } from '../../../../../local/server/backup/backup-leases.ts';
import { createBackup } from '../../../../../local/server/backup/create-backup.ts';
import { openData, type DataDirectory } from '../../../../../local/server/data-directory/data-directory.ts';
import { timeOf } from '../../../../../shared/adapters/embedded/blobs/blob-ref.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import type { BackupRecord } from '../../../../../shared/backup/backup-record.ts';
import { Repository } from '../../../../../shared/backup/repository.ts';
import { TargetLock } from '../../../../../shared/backup/target-lock.ts';
import { partition } from '../../../../../shared/storage/table/keys/keys.ts';
import { settled } from '../../../../../shared/storage/table/settled.ts';
import { encodeContent } from '../../../../../shared/storage/versions/stored-values.ts';
import { MemoryTarget } from '../../../../support/backup/memory-target.ts';
import { fastFolder } from '../../../../support/disks/fast-folder.ts';
import { untilFound } from '../../../../support/runs/eventually.ts';
import { StepClock } from '../../../../support/storage/step-clock.ts';

const randomness = new CryptoRandomness();
const second = 1000;
const minute = 60 * second;

let folder: string;
let opened: DataDirectory;
let clock: StepClock;
let target: MemoryTarget;
let ref: string;
beforeEach(async () => {
  folder = await mkdtemp(join(await fastFolder(), 'stillage-backup-'));
  opened = await openData(join(folder, 'data'));
  ({ ref } = await opened.blobs.write(once(Buffer.alloc(300_000, 'x')), { bucketId: 'b'.repeat(22), key: 'key' }));
  const content = encodeContent({ kind: 'blob', ref });
  const key = { pk: partition.currentVersions('b'.repeat(22), 0), sk: 'key' };
  await settled(opened.table.write([{ key, put: { c: content } }]));
  clock = new StepClock(Date.now() + minute);
  target = new MemoryTarget();
});
afterEach(async () => {
  await Promise.all([opened.table.close(), opened.blobs.close()]);
  await rm(folder, { recursive: true });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Tells whether the blob may not be removed; `later`: nor after so many milliseconds, unless something is done until then. */
const isHeld = async (later = 0): Promise<boolean> =>
  (await heldUntil(opened.table, clock.now() + later)) >= timeOf(ref);

/** Makes a backup. @param writing called while each of its files is written, with its name @param of the data directory */
async function backUp(
  writing: (name: string) => Promise<void> = async () => undefined,
  of: DataDirectory = opened,
): Promise<BackupRecord> {
  const repository = await Repository.openOrCreate(target, Buffer.from('passphrase'), randomness);
  const holder = { host: 'here', pid: 1, hasEnded: () => false };
  const lock = await TargetLock.take({ target, clock, randomness, holder }, 'add');
  target.busy = async (name) => {
    if (!name.startsWith('locks/')) await writing(name);
  };
  try {
    return await createBackup({
      ...{ data: join(folder, 'data'), opened: of, clock, randomness, repository, lock, program: '0' },
      ...{ onUnread: () => undefined, onProgress: () => undefined },
    });
  } finally {
    await lock.release();
  }
}

describe('the content of a backup', () => {
  it('is held until all of it is recorded, however slow the target is, and no longer', async () => {
    const held: (readonly [string, boolean])[] = [];
    const slowly = async (name: string): Promise<void> => {
      for (let minutes = 0; minutes < 4; minutes += 1) {
        await clock.pass(minute);
        await untilFound(() => isHeld(100 * second));
      }
      held.push([name.split('/', 1)[0]!, await isHeld()]);
    };
    let before = Promise.resolve();
    const { blobs, unread } = await backUp((name) => (before = before.then(() => slowly(name))));
    expect([blobs, unread]).toEqual([1, 0]);
    expect(held.toSorted()).toEqual([
      ['backups', true],
      ['index', true],
      ['packs', true],
      ['packs', true],
    ]);
    expect(await isHeld()).toBe(false);
  });

  it('is not held once the target has failed', async () => {
    const failing = backUp(async () => {
      target.room = 0;
      expect(await isHeld()).toBe(true);
    });
    await expect(failing).rejects.toThrow('it is full');
    expect(await isHeld()).toBe(false);
  });

  it('is not recorded if it was not held all the time', async () => {
    const stopped = backUp(async (name) => {
      // As a process that is stopped, whose lock on the target still counts.
      if (name.startsWith('packs/')) await clock.pass(2 * minute);
    });
    await expect(stopped).rejects.toThrow(/^the lease on the content of the backup has ended/);
    expect(target.names('backups/')).toEqual([]);
    expect(await isHeld()).toBe(false);
  });
});

describe('the moment of a backup', () => {
  /** Backs up a directory whose table takes a second to be opened. */
  async function observed(): Promise<{
    readonly record: BackupRecord;
    /** The time at which the table is as the backup has it. */
    readonly moment: number;
    /** Up to when blobs were held before it, and while the blobs were read. */
    readonly held: readonly number[];
  }> {
    let moment = NaN;
    let before = Promise.resolve(NaN);
    const held: number[] = [];
    const slow = {
      ...opened,
      moment: () => {
        before = heldUntil(opened.table, clock.now());
        clock.time += second;
        moment = clock.now();
        const taken = opened.moment();
        clock.time += second;
        return taken;
      },
    };
    const record = await backUp(async (name) => {
      if (name.startsWith('packs/')) held.push(await heldUntil(opened.table, clock.now()));
    }, slow);
    return { record, moment, held: [await before, ...held] };
  }

  it('comes after the time that is recorded, so that what was acknowledged until then is in it', async () => {
    const { record, moment } = await observed();
    expect(record.at).toBeLessThanOrEqual(moment);
    expect(record.at).toBeGreaterThanOrEqual(moment - second);
    expect(record.id.slice(0, 19).replaceAll(/(T..)-(..)-/g, '$1:$2:')).toBe(
      new Date(record.at).toISOString().slice(0, 19),
    );
  });

  it('comes after everything is held, and what was written until then is held to the end', async () => {
    const { moment, held } = await observed();
    expect(held[0]).toBe(Infinity);
    expect(held.length).toBeGreaterThan(1);
    for (const until of held) expect(until).toBeGreaterThanOrEqual(moment);
  });
});
