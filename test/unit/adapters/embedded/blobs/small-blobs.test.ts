import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openEnvironment } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { timeOf } from '../../../../../shared/adapters/embedded/blobs/blob-ref.ts';
import { FileBlobStore } from '../../../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { SmallBlobs, smallBlobSize } from '../../../../../shared/adapters/embedded/blobs/small-blobs.ts';
import { BlobMissing } from '../../../../../shared/ports/blob-store.ts';

let directory: string;
let environment: LmdbEnvironment;
let small: SmallBlobs;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-small-'));
  environment = await open();
  small = new SmallBlobs(environment);
});
afterEach(async () => {
  await environment.close();
  await rm(directory, { recursive: true });
});

const open = (): Promise<LmdbEnvironment> => LmdbEnvironment.open(join(directory, 'table'));
/** The small blobs, as another process sees them. */
async function seenByAnother(): Promise<string[]> {
  const other = await open();
  const refs = [...new SmallBlobs(other).list()].map(({ ref }) => ref);
  await other.close();
  return refs;
}
/** Calls `act` once the queued transaction has begun, before its outcome is reported. */
async function duringCommit<T>(act: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let isFirst = true;
    const begin = (): undefined => {
      if (isFirst) queueMicrotask(() => void act().then(resolve, reject));
      isFirst = false;
    };
    environment.enlist({ begin, end: () => undefined });
  });
}

const owner = { bucketId: 'bucket', key: 'photos/ä.jpg' };
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('SmallBlobs', () => {
  it('give back bytes, ranges of them, and whose they are', async () => {
    const ref = await small.write(Buffer.from('0123456789'), owner);
    expect(text(small.read(ref, 10))).toBe('0123456789');
    expect(text(small.read(ref, 10, { first: 2, last: 4 }))).toBe('234');
    expect(text(small.read(ref, 10, { first: 8, last: 100 }))).toBe('89');
    expect(small.describe(ref)).toEqual({ ref, size: 10, writtenAt: timeOf(ref), owner });
    expect(Math.abs(timeOf(ref) - Date.now())).toBeLessThan(60_000);
    const empty = await small.write(new Uint8Array(0), { bucketId: 'b', key: '' });
    expect(text(small.read(empty, 0))).toBe('');
  });

  it('do not change when the buffer they came in is used again', async () => {
    const buffer = Buffer.from('first');
    const writing = small.write(buffer, owner);
    buffer.write('other');
    expect(text(small.read(await writing, 5))).toBe('first');
  });

  it('list all of them, page by page, and forget those that are removed', async () => {
    const refs = await Promise.all(Array.from({ length: 2100 }, (_, at) => small.write(Buffer.from(`${at}`), owner)));
    const listed = [...small.list()];
    expect(listed.map(({ ref }) => ref).sort()).toEqual(refs.toSorted());
    expect(listed.reduce((sum, { size }) => sum + size, 0)).toBe(refs.reduce((sum, _, at) => sum + `${at}`.length, 0));
    await environment.run(() => undefined);
    expect([...small.list()]).toEqual(listed.toSorted((a, b) => (a.ref < b.ref ? -1 : 1)));
    await small.remove(refs.slice(0, 2099));
    expect([...small.list()].map(({ ref }) => ref)).toEqual([refs[2099]]);
    await small.remove([refs[0]!]);
    expect(() => small.read(refs[0]!, 1)).toThrow(BlobMissing);
    expect(() => small.describe(refs[0]!)).toThrow(BlobMissing);
  });

  it('become durable with the next transaction, in which what refers to them is as well', async () => {
    const ref = await small.write(Buffer.from('bytes'), owner);
    expect(text(small.read(ref, 5))).toBe('bytes');
    expect(await seenByAnother()).toEqual([]);
    await environment.run(() => undefined);
    expect(await seenByAnother()).toEqual([ref]);
    expect(text(small.read(ref, 5))).toBe('bytes');
  });

  it('cost no write if they are removed before', async () => {
    let transactions = 0;
    environment.enlist({ begin: () => void (transactions += 1), end: () => undefined });
    const ref = await small.write(Buffer.from('bytes'), owner);
    await small.remove([ref]);
    expect(transactions).toBe(0);
    await environment.run(() => undefined);
    expect(await seenByAnother()).toEqual([]);
  });

  it('are removed, too, while a transaction puts them', async () => {
    const ref = await small.write(Buffer.from('bytes'), owner);
    const put = environment.run(() => undefined);
    const removed = duringCommit(() => small.remove([ref]));
    await Promise.all([put, removed]);
    expect(await seenByAnother()).toEqual([]);
    expect(() => small.read(ref, 5)).toThrow(BlobMissing);
  });

  it('survive a transaction that fails: the next one puts them again', async () => {
    const ref = await small.write(Buffer.from('bytes'), owner);
    const failing = environment.run(() => {
      throw new Error('the engine fails');
    });
    const [failed] = await Promise.allSettled([failing]);
    expect(failed.status).toBe('rejected');
    expect(text(small.read(ref, 5))).toBe('bytes');
    await environment.run(() => undefined);
    expect(await seenByAnother()).toEqual([ref]);
  });

  it('are put again by a transaction that begins before it is known that the one before failed', async () => {
    const refs: string[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      refs.push(await small.write(Buffer.from(`${turn}`), owner));
      const failing = environment.run(() => {
        if (turn % 2 === 0) throw new Error('the engine fails');
      });
      const next = duringCommit(() => environment.run(() => undefined));
      await Promise.allSettled([failing, next]);
      expect(await seenByAnother()).toEqual(refs.toSorted());
    }
  });

  it('stay as they are where it is not known whether something refers to them, and wait no longer', async () => {
    const [durable, other] = [await small.write(Buffer.from('a'), owner), await small.write(Buffer.from('b'), owner)];
    await environment.run(() => small.abandon([other]));
    const late = await small.write(Buffer.from('c'), owner);
    small.abandon([durable, late]);
    await environment.run(() => undefined);
    expect(await seenByAnother()).toEqual([durable, other].sort());
    expect(() => small.read(late, 1)).toThrow(BlobMissing);
  });

  it('do not wait in memory for ever: some megabytes of them are written by themselves', async () => {
    const refs: string[] = [];
    for (let turn = 0; turn < 200; turn += 1) refs.push(await small.write(Buffer.alloc(smallBlobSize), owner));
    const seen = await seenByAnother();
    expect(seen.length).toBeGreaterThan(100);
    expect(seen).toEqual(refs.slice(0, seen.length).toSorted());
  });

  it('refuse to be used once they are closed', async () => {
    const ref = await small.write(Buffer.from('bytes'), owner);
    await environment.close();
    expect(() => small.read(ref, 5)).toThrow(/closed/);
    await expect(small.write(Buffer.from('x'), owner)).rejects.toThrow(/closed/);
  });
});

describe('FileBlobStore', () => {
  it('makes a file of what is larger than a small blob, whatever length it was told', async () => {
    const store = await FileBlobStore.open(join(directory, 'blobs'), environment);
    const files = async (): Promise<number> => {
      const entries = await readdir(join(directory, 'blobs'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.mdb')).length;
    };
    async function* bytes(size: number): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < size; at += 1000) yield Buffer.alloc(Math.min(1000, size - at), 'x');
    }
    for (const [size, length, expected] of [
      [smallBlobSize, undefined, 0],
      [smallBlobSize, smallBlobSize, 0],
      [smallBlobSize, 5 * smallBlobSize, 0],
      [smallBlobSize + 1, undefined, 1],
      [smallBlobSize + 1, smallBlobSize + 1, 2],
      [5 * smallBlobSize, 10, 3],
    ] as const) {
      const { ref } = await store.write(bytes(size), owner, length);
      expect(await files()).toBe(expected);
      let read = 0;
      for await (const chunk of await store.read(ref, size)) read += chunk.length;
      expect(read).toBe(size);
      expect((await store.describe(ref)).owner).toEqual(owner);
    }
    let listed = 0;
    for await (const _ of store.list()) listed += 1;
    expect(listed).toBe(6);
    await store.close();
  });

  it('takes over the small blobs of a directory in which they lay apart from the table', async () => {
    const former = await LmdbEnvironment.open(join(directory, 'former'));
    const blobs = new SmallBlobs(former);
    const kept = new Map<string, string>();
    for (let at = 0; at < 1200; at += 1) kept.set(await blobs.write(Buffer.from(`blob ${at}`), owner), `blob ${at}`);
    const values = await valuesOf(former);
    await former.close();

    await putApart(values);

    const store = await FileBlobStore.open(join(directory, 'blobs'), environment);
    expect((await readdir(join(directory, 'blobs'))).includes('small')).toBe(false);
    expect(await seenByAnother()).toEqual([...kept.keys()].sort());
    for (const [ref, bytes] of kept) {
      for await (const chunk of await store.read(ref, bytes.length)) expect(text(chunk)).toBe(bytes);
      expect((await store.describe(ref)).owner).toEqual(owner);
    }
  });

  it('leaves them where they are while another process works on the directory, perhaps in an earlier version', async () => {
    await putApart([{ key: 'sm', value: Buffer.from('bytes') }]);
    const reading = `import { open } from 'lmdb'; open({ path: process.argv[1], noSubdir: false }).get('x'); console.log('read');`;
    const program = [`--input-type=module`, '--eval', `${reading} process.stdin.resume();`, join(directory, 'table')];
    const other = spawn(process.execPath, program, { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(other, 'exit');
    try {
      await once(other.stdout, 'data');
      const refusal = `process ${other.pid}, perhaps of an earlier version, is using it, .*; stop it first`;
      await expect(FileBlobStore.open(join(directory, 'blobs'), environment)).rejects.toThrow(new RegExp(refusal));
      expect(await readdir(join(directory, 'blobs'))).toContain('small');
    } finally {
      other.kill('SIGKILL');
      await ended;
    }
    await FileBlobStore.open(join(directory, 'blobs'), environment);
    expect(await readdir(join(directory, 'blobs'))).not.toContain('small');
    expect(await seenByAnother()).toEqual(['sm']);
  });
});

/** As they lay in earlier versions: the own entries of an environment of theirs. */
async function putApart(values: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void> {
  const apart = openEnvironment<Buffer, string>({
    path: join(directory, 'blobs', 'small'),
    encoding: 'binary',
    noSubdir: false,
  });
  await apart.transaction(() => values.forEach(({ key, value }) => void apart.put(key, value)));
  await apart.close();
}

/** Returns the contents of the database of small blobs. */
async function valuesOf(environment: LmdbEnvironment): Promise<{ key: string; value: Buffer }[]> {
  await environment.run(() => undefined);
  const database = environment.database<Buffer, string>('blobs', { encoding: 'binary' });
  return [...database.getRange({})].map(({ key, value }) => ({ key, value: Buffer.from(value) }));
}
