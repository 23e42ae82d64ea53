import { beforeEach, describe, expect, it } from 'vitest';
import { migrate, type Damage, type End, type Migrated } from '../../../../../local/server/migration/migrate.ts';
import { refuseUnfinished } from '../../../../../local/server/migration/migration-state.ts';
import type { BlobStore } from '../../../../../shared/ports/blob-store.ts';
import type { Change, Item, WriteOutcome } from '../../../../../shared/ports/key-value-table.ts';
import { sortableTime } from '../../../../../shared/storage/table/keys/ids.ts';
import { garbagePartitionOf, itemKey, partition } from '../../../../../shared/storage/table/keys/keys.ts';
import { blobNamed, movedBlobs, staysInPlace } from '../../../../../shared/storage/table/keys/migration-keys.ts';
import { partitionItems } from '../../../../../shared/storage/table/pages.ts';
import { MemoryBlobs } from '../../../../model/memory-blobs.ts';
import { CountedBytes, SetClock } from '../../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../../support/storage/memory-table.ts';
import { person, PipelineInProcess, type Answered } from '../../../../support/storage/pipeline-in-process.ts';

/** A table whose feed can begin anywhere. */
class TableWithFeed extends MemoryTable {
  began = 0n;

  newest(): string {
    return String(this.began + BigInt(this.feed.length));
  }

  async advanceFeed(to: string): Promise<void> {
    this.began = BigInt(to);
  }
}

interface World extends End {
  readonly table: TableWithFeed;
  readonly kept: MemoryBlobs;
  readonly app: PipelineInProcess;
}

const alice = person('alice');
const randomness = new CountedBytes();
let worlds = 0;

/** A service on a table and blobs of its own. */
function world(): World {
  const [table, kept, clock] = [new TableWithFeed(), new MemoryBlobs(), new SetClock(Date.now())];
  const blobs = kept.of(`world-${(worlds += 1)}`, () => clock.now());
  const app = new PipelineInProcess([alice], { table, before: () => blobs, clock });
  return { places: { table: 'the table', blobs: 'the bucket' }, table, blobs, kept, app };
}

function run(source: End, target: End, damages: Damage[] = []): Promise<Migrated> {
  return migrate({
    ...{ source, target, randomness, clock: new SetClock(), drain: async () => undefined },
    onProgress: () => undefined,
    onDamage: (damage) => damages.push(damage),
  });
}

async function ask(app: PipelineInProcess, method: string, path: string, query = '', body?: string): Promise<Answered> {
  const answered = await app.send({ method, path, query, ...(body !== undefined && { body }) }, alice);
  expect(answered.status, `${method} ${path}?${query}: ${answered.text}`).toBeLessThan(300);
  return answered;
}

/** What clients see: all listings, the bytes of each version, and the parts of open uploads. */
async function seen({ app }: World): Promise<readonly string[]> {
  const versions = (await ask(app, 'GET', '/bucket', 'versions')).text;
  const uploads = (await ask(app, 'GET', '/bucket', 'uploads')).text;
  const all = [versions, uploads];
  for (const [, key, id] of versions.matchAll(/<Version><Key>(.*?)<\/Key><VersionId>(.*?)<\/VersionId>/g)) {
    const { text, header } = await ask(app, 'GET', `/bucket/${key}`, `versionId=${id}`);
    all.push(
      `${key} ${id} ${header('etag')} ${text}`,
      (await ask(app, 'GET', `/bucket/${key}`, `tagging&versionId=${id}`)).text,
    );
  }
  for (const [, key, id] of uploads.matchAll(/<Key>(.*?)<\/Key><UploadId>(.*?)<\/UploadId>/g)) {
    all.push((await ask(app, 'GET', `/bucket/${key}`, `uploadId=${id}`)).text);
  }
  return all;
}

async function itemsOf(table: MemoryTable): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of table.scan()) if (!staysInPlace(item.key)) items.push(item);
  return items;
}

const idIn = (text: string): string => /<UploadId>(.*?)<\/UploadId>/.exec(text)![1]!;
const etagIn = ({ header }: Answered): string => header('etag')!;

/** Fills a bucket: versions, a marker, a shared content, an object in parts, an open upload, tags, and what waits for its release. */
async function filled(): Promise<World> {
  const made = world();
  const { app, table, blobs } = made;
  await ask(app, 'PUT', '/bucket');
  await ask(app, 'PUT', '/bucket/null', '', 'before versioning');
  await ask(
    ...([app, 'PUT', '/bucket', 'versioning'] as const),
    '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
  );
  for (const n of [1, 2, 3]) await ask(app, 'PUT', '/bucket/often', '', `version ${n}`);
  await ask(app, 'PUT', '/bucket/empty', '', '');
  await ask(app, 'DELETE', '/bucket/null');
  await ask(
    app,
    'PUT',
    '/bucket/often',
    'tagging',
    '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>',
  );
  const copy = { method: 'PUT', path: '/bucket/copy', headers: { 'x-amz-copy-source': '/bucket/often' } };
  expect((await app.send(copy, alice)).status).toBe(200);
  const id = idIn((await ask(app, 'POST', '/bucket/parts', 'uploads')).text);
  const parts = [];
  for (const n of [1, 2, 3]) {
    const etag = etagIn(await ask(app, 'PUT', '/bucket/parts', `partNumber=${n}&uploadId=${id}`, `part ${n}`));
    parts.push(`<Part><PartNumber>${n}</PartNumber><ETag>${etag}</ETag></Part>`);
  }
  await ask(
    app,
    'POST',
    '/bucket/parts',
    `uploadId=${id}`,
    `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
  );
  const open = idIn((await ask(app, 'POST', '/bucket/open', 'uploads')).text);
  for (const n of [1, 2]) await ask(app, 'PUT', '/bucket/open', `partNumber=${n}&uploadId=${open}`, `open ${n}`);
  // As the follower of the feed queues what has been replaced, and what versions still have.
  const { ref } = await blobs.write(one('released'), { bucketId: 'b', key: 'k' });
  const shared = (await itemsOf(table)).find(({ key }) => key.sk === 'copy')!.attributes;
  for (const content of [`b${ref}`, shared['c'] as string]) {
    const instance = shared['i'] as string;
    const key = itemKey.garbage(garbagePartitionOf(instance), sortableTime(1_000_000), content, instance);
    await table.write([{ key, put: { bucketId: 'b', key: 'k', size: 8 } }]);
  }
  return made;
}

async function* one(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

class Killed extends Error {}

/** A table that is written in another way. */
function withWrite<Table extends MemoryTable>(
  table: Table,
  write: (changes: readonly Change[]) => Promise<WriteOutcome>,
): Table {
  return new Proxy(table, {
    get: (_, name) => {
      if (name === 'write') return (changes: readonly Change[]) => write(changes);
      const value: unknown = Reflect.get(table, name, table);
      return typeof value === 'function' ? (value.bind(table) as unknown) : value;
    },
  });
}

/** A target whose process is killed at one of its writes, before or after it happens: nothing works from then on. */
function killedAt(target: World, at: number, when: 'before' | 'after'): End & { readonly wasKilled: () => boolean } {
  let writes = 0;
  const step = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    writes += 1;
    if (writes > at || (writes === at && when === 'before')) throw new Killed();
    const result = await work();
    if (writes >= at) throw new Killed();
    return result;
  };
  const { table, blobs } = target;
  const killedTable = withWrite(table, (changes) => step(() => table.write(changes)));
  const killedBlobs: BlobStore = { ...blobs, write: (...args) => step(() => blobs.write(...args)) };
  return { places: target.places, table: killedTable, blobs: killedBlobs, wasKilled: () => writes >= at };
}

describe('a migration', () => {
  let source: World;
  beforeEach(async () => {
    source = await filled();
  });

  it('keeps all that clients see, there and back, and what waits for its release', async () => {
    const before = await seen(source);
    expect(before.length).toBeGreaterThan(10);
    const there = world();
    expect(await run(source, there)).toMatchObject({ damaged: 0, blobsBefore: 0, isEarlier: false });
    expect(await seen(there)).toEqual(before);
    // What is released is not copied; its entry stays, so that all that depends on it comes to its end.
    expect([...there.kept.kept.values()].map(({ bytes }) => Buffer.from(bytes).toString())).not.toContain('released');
    const garbage = (await itemsOf(there.table)).filter(({ key }) =>
      key.pk.startsWith(partition.garbage(0).slice(0, 8)),
    );
    expect(garbage).toHaveLength(2);
    const copy = (await itemsOf(there.table)).find(({ key }) => key.sk === 'copy')!.attributes['c'] as string;
    expect(garbage.filter(({ key }) => key.sk.includes(copy))).toHaveLength(1);
    expect(await there.table.get(itemKey.references(copy))).toBeDefined();

    const back = world();
    await run(there, back);
    expect(await seen(back)).toEqual(before);
    expect(await back.table.query(movedBlobs)).toEqual({ items: [], more: false });
  });

  it('begins the feed of the target after that of the source', async () => {
    const there = world();
    await source.table.advanceFeed('1000000');
    const position = source.table.newest();
    await run(source, there);
    expect(BigInt(there.table.newest())).toBeGreaterThanOrEqual(BigInt(position));
  });

  it(
    'is resumed after a kill at any write, copies no blob twice, and ends the same',
    { timeout: 120_000 },
    async () => {
      const before = await seen(source);
      const items = (await itemsOf(source.table)).length;
      const whole = await run(source, world());
      let kills = 0;
      for (const when of ['before', 'after'] as const) {
        for (let at = 1; ; at += 1) {
          const target = world();
          const killed = killedAt(target, at, when);
          const first = await run(source, killed).catch((error: unknown) => error);
          if (!killed.wasKilled()) break;
          expect(first).toBeInstanceOf(Killed);
          kills += 1;
          const recorded = (await target.table.query(movedBlobs)).items.length;
          const resumed = await run(source, target);
          expect(resumed.blobs).toBe(resumed.isEarlier ? 0 : whole.blobs - recorded);
          expect(await seen(target)).toEqual(before);
          expect((await itemsOf(target.table)).length).toBe(items);
          expect(await target.table.query(movedBlobs)).toEqual({ items: [], more: false });
        }
      }
      expect(kills).toBeGreaterThan(40);
    },
  );

  it('copies what has changed between a kill and the next run, and removes what is gone', async () => {
    const target = world();
    const unfinished = withWrite(target.table, async (changes) => {
      if (changes.some((change) => 'put' in change && 'finished' in change.put)) throw new Killed();
      return target.table.write(changes);
    });
    await expect(run(source, { ...target, table: unfinished })).rejects.toThrow(Killed);
    await ask(source.app, 'DELETE', '/bucket/copy');
    await ask(source.app, 'PUT', '/bucket/new', '', 'new');
    for (const { key } of await itemsOf(source.table)) {
      if (blobNamed(key) !== undefined) await source.table.write([{ key, delete: true }]);
    }
    const ids = [
      ...(await ask(source.app, 'GET', '/bucket', 'versions&prefix=often')).text.matchAll(/<VersionId>(.*?)</g),
    ];
    await ask(source.app, 'DELETE', '/bucket/often', `versionId=${ids[1]![1]}`);
    await run(source, target);
    expect(await seen(target)).toEqual(await seen(source));
  });

  it('is not finished if a blob is damaged or missing, names the object, and no service starts', async () => {
    const target = world();
    const [damaged, missing] = [...source.kept.kept]
      .filter(([, { owner }]) => owner.key === 'parts')
      .map(([ref]) => ref);
    source.kept.unreadable.add(damaged!);
    const { bytes, owner, writtenAt } = source.kept.kept.get(missing!)!;
    source.kept.kept.delete(missing!);
    const damages: Damage[] = [];
    const outcome = await run(source, target, damages);
    expect(outcome).toMatchObject({ finished: undefined, damaged: 2, examples: damages });
    expect(damages.map(({ where }) => where)).toEqual(['bucket/parts', 'bucket/parts']);
    await expect(refuseUnfinished(target.table)).rejects.toThrow('run stillage migrate again');

    source.kept.unreadable.clear();
    source.kept.kept.set(missing!, { bytes, owner, writtenAt });
    expect(await run(source, target)).toMatchObject({ damaged: 0, blobs: 2 });
    await refuseUnfinished(target.table);
    expect(await seen(target)).toEqual(await seen(source));
  });

  it('refuses a target with anything in it, or a migration of another source', async () => {
    const other = await filled();
    await expect(run(source, other)).rejects.toThrow('the table is not empty: a migration needs an empty target');
    const withBlob = world();
    await withBlob.blobs.write(one('x'), { bucketId: 'b', key: 'k' });
    await expect(run(source, withBlob)).rejects.toThrow('the bucket is not empty');
    const begun = world();
    await run(other, killedAt(begun, 5, 'before')).catch(() => undefined);
    await expect(run(source, begun)).rejects.toThrow('unfinished migration of another source');
    await run(other, begun);
    await expect(run(source, begun)).rejects.toThrow('not empty');
  });

  it('that was finished is left alone, whatever both have had since', async () => {
    const target = world();
    const { finished } = await run(source, target);
    await ask(source.app, 'PUT', '/bucket/later', '', 'later');
    expect(await run(source, target)).toMatchObject({ isEarlier: true, finished, blobs: 0, items: 0 });
    expect((await seen(target)).join()).not.toContain('later');
  });

  it('notices a source that is written to meanwhile', async () => {
    const target = world();
    const writing: BlobStore = {
      ...target.blobs,
      write: async (...args) => {
        await source.table.write([{ key: { pk: 'customers', sk: `c${Math.random()}` }, put: { created: 1 } }]);
        return target.blobs.write(...args);
      },
    };
    await expect(run(source, { ...target, blobs: writing })).rejects.toThrow('was written to while it was copied');
    await expect(refuseUnfinished(target.table)).rejects.toThrow();
  });

  it('notices an item of the target that is not that of the source', async () => {
    const target = world();
    const changing = withWrite(target.table, (changes) =>
      target.table.write(
        changes.map((change) =>
          change.key.sk === 'often' && 'put' in change ? { ...change, put: { ...change.put, s: 1 } } : change,
        ),
      ),
    );
    await expect(run(source, { ...target, table: changing })).rejects.toThrow('was written to while it was copied');
  });

  it('leaves nothing of the source alone but what belongs to it', async () => {
    const own = ['blobs', 'service', 'duty', 'scrub'].map(itemKey.deployment);
    for (const key of own) await source.table.write([{ key, put: { value: 1 } }]);
    await source.table.write([{ key: itemKey.backupLease('x'), put: { until: 1 } }]);
    await source.table.write([{ key: itemKey.deployment('token-key'), put: { value: new Uint8Array(32) } }]);
    const target = world();
    await run(source, target);
    for (const key of own) expect(await target.table.get(key)).toBeUndefined();
    expect(await target.table.get(itemKey.deployment('token-key'))).toEqual({ value: new Uint8Array(32) });
    const leases = [];
    for await (const lease of partitionItems(target.table, partition.backupLeases)) leases.push(lease);
    expect(leases).toEqual([]);
  });
});
