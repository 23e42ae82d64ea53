import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EarlySyncs, FileWriter } from '../../../../../shared/adapters/embedded/blobs/file-writer.ts';

const buffer = Buffer.alloc(4 * 1024 * 1024, 'bytes ');
const none = { run: () => undefined };
const named = (): Promise<void> => Promise.resolve();

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-writer-'));
  path = join(directory, 'file');
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Early syncs that the test ends. */
function controlled(): { early: Pick<EarlySyncs, 'run'>; running: { end: (error?: Error) => void }[] } {
  const running: { end: (error?: Error) => void }[] = [];
  const early = {
    run: () =>
      new Promise<void>((resolve, reject) => {
        running.push({ end: (error) => (error ? reject(error) : resolve()) });
      }),
  };
  return { early, running };
}

describe('FileWriter', () => {
  it('syncs each 8 MiB beside further writes, one sync at a time, and ends after the last', async () => {
    const { early, running } = controlled();
    const writer = new FileWriter(path, early);
    const started: number[] = [];
    for (let put = 0; put < 8; put += 1) {
      await writer.put(buffer);
      started.push(running.length);
      if (put === 5) running[0]!.end();
    }
    expect(started).toEqual([0, 0, 1, 1, 1, 1, 2, 2]);
    let hasEnded = false;
    const finished = writer.finish(buffer, named).then(() => (hasEnded = true));
    // The name is synced once all bytes are written; the end waits for the early sync as well.
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    running[1]!.end();
    await finished;
    expect(running).toHaveLength(2);
    expect((await readFile(path)).equals(Buffer.concat(Array.from({ length: 9 }, () => buffer)))).toBe(true);
  });

  it('fails if an early sync failed, as the next would not report what was lost', async () => {
    const { early, running } = controlled();
    const writer = new FileWriter(path, early);
    for (let put = 0; put < 3; put += 1) await writer.put(buffer);
    running[0]!.end(new Error('EIO'));
    for (let put = 0; put < 3; put += 1) await writer.put(buffer);
    running[1]!.end(new Error('EIO again'));
    await expect(writer.finish(buffer, named)).rejects.toThrow(/^EIO$/);
    await writer.discard();
    expect(existsSync(path)).toBe(false);
  });

  it('is discarded once its early sync has ended', async () => {
    const { early, running } = controlled();
    const writer = new FileWriter(path, early);
    for (let put = 0; put < 3; put += 1) await writer.put(buffer);
    const discarded = writer.discard();
    running[0]!.end(new Error('EIO'));
    await discarded;
    expect(existsSync(path)).toBe(false);
  });

  it('is written without early syncs where too many run', async () => {
    const writer = new FileWriter(path, none);
    for (let put = 0; put < 3; put += 1) await writer.put(buffer);
    await writer.finish(buffer, named);
    expect((await readFile(path)).length).toBe(4 * buffer.length);
  });
});

describe('EarlySyncs', () => {
  it('run up to a number, and more once one has ended, also if it failed', async () => {
    const early = new EarlySyncs(2);
    const ends: (() => void)[] = [];
    const sync = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const first = early.run(sync);
    const failing = early.run(() => Promise.reject(new Error('EIO')));
    expect(early.run(sync)).toBeUndefined();
    await expect(failing).rejects.toThrow('EIO');
    const third = early.run(sync);
    expect(third).toBeDefined();
    expect(early.run(sync)).toBeUndefined();
    for (const end of ends) end();
    await Promise.all([first, third]);
    expect(early.run(() => Promise.resolve())).toBeDefined();
  });
});
