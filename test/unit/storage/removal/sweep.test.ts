import { describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { sortableTime } from '../../../../shared/storage/table/keys/ids.ts';
import { garbagePartitions, itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import { Manifests } from '../../../../shared/storage/objects/manifests.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { currentVersionKey } from '../../../../shared/storage/version-changes/version-chain.ts';
import { ReleaseQueue } from '../../../../shared/storage/removal/release-queue.ts';
import { Release } from '../../../../shared/storage/removal/release.ts';
import { partKey, stateKey } from '../../../../shared/storage/table/keys/upload-keys.ts';
import { encodePart, encodeState, type Upload } from '../../../../shared/storage/uploads/upload.ts';
import { Uploads } from '../../../../shared/storage/uploads/uploads.ts';
import { BlobsNotRemoved, type BlobStore } from '../../../../shared/ports/blob-store.ts';
import { day, minute } from '../../../../shared/ports/durations.ts';
import type { KeyValueTable } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes } from '../../../support/storage/fixed-deps.ts';
import { LambdaSandbox } from '../../../support/cloud/lambda-sandbox.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { VirtualTime } from '../../../support/runs/virtual-time.ts';

const timeout = 14 * minute;
/** Returns the result of a sweep for entries without the size of their content, where no reader is known. */
const swept = (freed: number) => ({
  result: { freed, complete: true, blobs: freed, bytes: 0, held: { things: 0, blobs: 0, bytes: 0 } },
});
/** As the functions have it: functions/cloud/background/background-handler.ts. */
const reserve = 2 * minute;

const openUpload: Omit<Upload, 'id' | 'initiated'> = {
  ...{
    bucketId: 'bucket',
    key: 'key',
    state: 'open',
    token: 'token',
    releases: 0,
    held: 0,
    result: undefined,
    picked: undefined,
  },
  ...{ owner: 'project', initiator: 'project', contentType: undefined, objectAttributes: noObjectAttributes },
  ...{ encryption: undefined, checksum: undefined },
};
const anyPart = { size: 1, md5: new Uint8Array(16), checksum: undefined, at: 0 } as const;

function world() {
  const time = new VirtualTime();
  const table = new MemoryTable({ freeChecks: false });
  const removed = new Set<string>();
  /** DeleteObjects responds with 200, and lists the objects that it could not delete. */
  const undeletable = new Set<string>();
  const requests: number[] = [];
  const blobs = {
    remove: async (refs: readonly string[]) => {
      requests.push(refs.length);
      for (const ref of refs) if (!undeletable.has(ref)) removed.add(ref);
      const left = refs.filter((ref) => undeletable.has(ref));
      if (left.length > 0) throw new BlobsNotRemoved(left, 'InternalError');
    },
  } as unknown as BlobStore;
  const services = (over: { table: KeyValueTable; blobs: BlobStore }) => {
    const deps = { ...over, clock: time, randomness: new CountedBytes() };
    const manifests = new Manifests(deps);
    const uploads = new Uploads({ ...deps, buckets: new Buckets(deps), manifests });
    return {
      release: new Release({ ...deps, manifests, uploads }),
      queue: new ReleaseQueue({ ...deps, uploads, grace: day }),
    };
  };
  const sweep = (allowed = timeout) =>
    new LambdaSandbox(time).invoke({ table, blobs }, allowed, (sandbox, remaining) =>
      services(sandbox).release.sweep({ stopping: () => remaining() < reserve }),
    );
  /** Entries that are due, so many in each partition. */
  const fill = async (each: number): Promise<void> => {
    for (let number = 0; number < garbagePartitions; number += 1) {
      for (let at = 0; at < each; at += 1) {
        const name = `${number}-${at}`;
        const key = itemKey.garbage(number, sortableTime(time.now() - day + at), `b${name}`, `i${name}`);
        await table.write([{ key, put: { bucketId: 'bucket', key: name } }]);
      }
    }
  };
  const left = (): number[] =>
    Array.from({ length: garbagePartitions }, (_, number) => table.keysOf(partition.garbage(number)).length);
  return { time, table, blobs, removed, undeletable, requests, services, sweep, fill, left };
}

describe('a sweep of released content, in the time that Lambda gives it', () => {
  it('ends before its time is up, and gets on in every partition', async () => {
    const { sweep, fill, left, requests, removed } = world();
    await fill(6000);
    expect(await sweep()).toEqual(swept(16 * 6000));
    expect(left()).toEqual(Array<number>(16).fill(0));
    expect(removed.size).toBe(16 * 6000);
    // DeleteObjects takes many at a time.
    expect(requests.length).toBeLessThan(1000);
  });

  it('stops in time where there is more than it can do, having done as much in each', async () => {
    const { sweep, fill, left } = world();
    await fill(3000);
    const partly = await sweep(reserve + 5000);
    expect(partly).toMatchObject({ result: { complete: false } });
    const rest = left();
    expect(Math.max(...rest)).toBeLessThan(3000);
    expect(Math.max(...rest) - Math.min(...rest)).toBeLessThanOrEqual(400);
    expect(await sweep()).toMatchObject({ result: { complete: true } });
    expect(left()).toEqual(Array<number>(16).fill(0));
  });

  it('keeps what S3 could not delete for the next one, and nothing else', async () => {
    const { sweep, fill, left, undeletable, removed } = world();
    await fill(10);
    undeletable.add('3-4');
    await expect(sweep()).rejects.toThrow('InternalError');
    expect(left().reduce((sum, one) => sum + one, 0)).toBe(1);
    undeletable.clear();
    expect(await sweep()).toEqual(swept(1));
    expect(removed.size).toBe(160);
  });

  it('is not held up by an entry that cannot be read', async () => {
    const { sweep, fill, left, table, time } = world();
    const key = itemKey.garbage(0, sortableTime(time.now() - 2 * day), 'mdamaged', 'instance');
    await table.write([{ key, put: { bucketId: 'bucket', key: 'k' } }]);
    await table.write([{ key: { pk: 'content/mdamaged', sk: '-' }, put: { starts: 'nonsense' } }]);
    await fill(10);
    await expect(sweep()).rejects.toThrow();
    expect(left()).toEqual([1, ...Array<number>(15).fill(0)]);
  });

  it.each([
    ['content that was shared', 'bblob'],
    ['content in parts', 'mmanifest'],
    ['details', 'ddetails'],
  ])('leaves nothing of %s, whichever write has no answer and did not happen', async (_, thing) => {
    const items = [
      { key: itemKey.references('bblob'), put: { holders: new Set(['instance']), r: 'token' } },
      { key: itemKey.references('mmanifest'), put: { holders: new Set(['instance']), r: 'token' } },
      { key: itemKey.manifest('manifest'), put: { parts: 1, size: 1, starts: [[1, 0]] } },
      { key: itemKey.manifestSlice('manifest', 0, 1), put: { b: ['blob-1'], s: [1] } },
      { key: itemKey.details('details'), put: {} },
    ];
    const own = items.filter(({ key }) => key.pk.endsWith(thing) || key.pk.endsWith(thing.slice(1)));
    // The first time none is lost, so that they can be counted.
    let writes = 0;
    for (let lost = -1; lost < writes; lost += 1) {
      const { sweep, table, time, left } = world();
      const entry = itemKey.garbage(0, sortableTime(time.now()), thing, 'instance');
      await table.write([{ key: entry, put: { bucketId: 'bucket', key: 'key' } }, ...own]);
      const write = table.write.bind(table);
      let at = -1;
      table.write = async (...change) => ((at += 1) === lost ? { outcome: 'unknown' } : write(...change));
      await sweep().catch(() => undefined);
      if (lost < 0) writes = at + 1;
      await sweep();
      expect(own.flatMap(({ key }) => table.keysOf(key.pk))).toEqual([]);
      expect(left()).toEqual(Array<number>(16).fill(0));
    }
    expect(writes).toBeGreaterThan(1);
  });

  it('clears up after uploads of 10,000 parts', async () => {
    const { sweep, table, requests, time, removed } = world();
    const id = 'upload-id'.padEnd(28, '-');
    const upload = { ...openUpload, id, state: 'aborted', initiated: time.now() } as const;
    await table.write([{ key: stateKey(id), put: encodeState(upload) }]);
    for (let number = 1; number <= 10_000; number += 1) {
      const part = { ...anyPart, number, id: String(number), blob: `blob-${number}` };
      await table.write([{ key: partKey(id, part), put: encodePart(part) }]);
    }
    const key = itemKey.garbage(1, sortableTime(time.now()), 'u', id);
    await table.write([{ key, put: { upload: id } }]);
    expect(await sweep()).toEqual(swept(0));
    expect(removed.size).toBe(10_000);
    expect(requests).toHaveLength(1);
    expect(table.keysOf(stateKey(id).pk)).toEqual(['-']);
  });
});

describe('the follower of the change feed', () => {
  it('removes nothing itself, and queues what an ended upload leaves', async () => {
    const { services, table, blobs, requests, time, sweep } = world();
    const id = 'upload-id'.padEnd(28, '-');
    const upload = { ...openUpload, id, initiated: time.now() } as const;
    const part = { ...anyPart, number: 1, id: 'part', blob: 'blob' };
    await table.write([{ key: partKey(id, part), put: encodePart(part) }]);
    await table.write([{ key: stateKey(id), put: encodeState(upload) }]);
    await table.write([{ key: stateKey(id), put: encodeState({ ...upload, state: 'aborted', token: 'other' }) }]);
    const calls = { ...table.calls };
    await services({ table, blobs }).queue.follow(table.feed.slice(-1));
    expect(requests).toEqual([]);
    // Three entries, regardless of the number of parts.
    expect(table.calls).toEqual({ ...calls, write: calls.write + 3 });
    expect(await sweep()).toMatchObject({ result: { complete: true } });
    expect(requests).toEqual([1]);
  });
});

describe('where writes share a commit', () => {
  const shared = () => {
    const made = world();
    return { ...made, table: Object.assign(made.table, { writesPerCommit: 64 }) };
  };

  it('up to 16 entries are removed by one write', async () => {
    const { services, table, blobs, fill, left, removed } = shared();
    await fill(20);
    const calls = { ...table.calls };
    expect(await services({ table, blobs }).release.sweep()).toEqual(swept(16 * 20).result);
    expect(left()).toEqual(Array<number>(16).fill(0));
    expect(removed.size).toBe(16 * 20);
    expect(table.calls.write - calls.write).toBe(16 * 2);
  });

  it('those that cannot be done stay, and nothing else', async () => {
    const { services, table, blobs, fill, left, undeletable } = shared();
    await fill(20);
    undeletable.add('3-7').add('5-0').add('5-19');
    await expect(services({ table, blobs }).release.sweep()).rejects.toThrow();
    expect(left()).toEqual([0, 0, 0, 1, 0, 2, ...Array<number>(10).fill(0)]);
  });

  it('up to 16 entries are queued by one write', async () => {
    const { services, table, blobs, left } = shared();
    for (let at = 0; at < 40; at += 1) {
      const key = currentVersionKey('bucket', `key-${at}`);
      await table.write([{ key, put: { i: `instance-${at}`, c: `bblob-${at}` } }]);
      await table.write([{ key, delete: true }]);
    }
    const calls = { ...table.calls };
    await services({ table, blobs }).queue.follow(table.feed);
    expect(table.calls.write - calls.write).toBe(3);
    expect(left().reduce((sum, count) => sum + count)).toBe(40);
  });
});
