import { beforeEach, describe, expect, it } from 'vitest';
import { EphemeralTable } from '../../../../shared/adapters/ephemeral/ephemeral-table.ts';
import type { Attributes, ItemKey } from '../../../../shared/ports/key-value-table.ts';
import { RecentTable } from '../../../../shared/storage/table/recent-table.ts';
import { SetClock } from '../../../support/storage/fixed-deps.ts';

/** A table that counts its reads, and holds up their answers as long as it is told to. */
class SlowTable extends EphemeralTable {
  reads = 0;
  answers: Promise<unknown> = Promise.resolve();

  override async get(key: ItemKey): Promise<Attributes | undefined> {
    this.reads += 1;
    const item = await super.get(key);
    await this.answers;
    return item;
  }
}

const key: ItemKey = { pk: 'bucket', sk: 'one' };
let inner: SlowTable;
let clock: SetClock;
let own: RecentTable;
/** That of another process. */
let other: RecentTable;

beforeEach(async () => {
  inner = new SlowTable();
  clock = new SetClock(1_000_000);
  own = new RecentTable(inner, clock);
  other = new RecentTable(inner, clock);
  await other.write([{ key, put: { n: 1 } }]);
});

const n = async (within: number): Promise<unknown> => (await own.recent(key, within)).item?.['n'];

describe('a table that remembers items', () => {
  it('reads one again when it is as old as may be, also if the clock was set back, and tells when it was read', async () => {
    expect(await own.recent(key, 1000)).toEqual({ item: { n: 1 }, readAt: 1_000_000 });
    await other.write([{ key, put: { n: 2 } }]);
    clock.time += 999;
    expect(await own.recent(key, 1000)).toEqual({ item: { n: 1 }, readAt: 1_000_000 });
    clock.time += 1;
    expect(await own.recent(key, 1000)).toEqual({ item: { n: 2 }, readAt: 1_001_000 });
    await other.write([{ key, put: { n: 3 } }]);
    clock.time -= 1000;
    expect(await n(1000)).toBe(3);
    expect(inner.reads).toBe(3);
  });

  it('reads it for whoever wants it as it is, and remembers that for others', async () => {
    await n(1000);
    await other.write([{ key, put: { n: 2 } }]);
    expect(await n(0)).toBe(2);
    expect(await n(1000)).toBe(2);
    expect(inner.reads).toBe(2);
  });

  it('shares a read among those who ask meanwhile', async () => {
    expect(await Promise.all([n(1000), n(1000), n(1000)])).toEqual([1, 1, 1]);
    expect(inner.reads).toBe(1);
  });

  it('knows of every write of its own process, also of one that a read overtakes', async () => {
    await n(1000);
    await own.write([{ key, put: { n: 2 } }]);
    expect(await n(1000)).toBe(2);
    let answer = (): void => undefined;
    inner.answers = new Promise<void>((resolve) => (answer = resolve));
    const early = n(0);
    await own.write([{ key, put: { n: 3 } }]);
    answer();
    expect(await early).toBe(2);
    expect(await n(1000)).toBe(3);
    await own.write([{ key, delete: true }]);
    expect(await n(1000)).toBeUndefined();
  });

  it('does not remember that one is absent', async () => {
    await other.write([{ key, delete: true }]);
    expect(await n(1000)).toBeUndefined();
    await other.write([{ key, put: { n: 2 } }]);
    expect(await n(1000)).toBe(2);
  });

  it('forgets what turned out to be another one at a commit', async () => {
    await n(1000);
    await other.write([{ key, put: { n: 2 } }]);
    const expect1 = { is: 'equal', attribute: 'n', value: 1 } as const;
    const { outcome } = await own.write([{ key: { pk: 'a', sk: 'b' }, put: {} }], [{ key, expect: expect1 }]);
    expect(outcome).toBe('conflict');
    expect(await n(1000)).toBe(2);
  });

  it('does not remember a read that failed', async () => {
    inner.answers = Promise.reject(new Error('away'));
    await expect(n(1000)).rejects.toThrow('away');
    inner.answers = Promise.resolve();
    expect(await n(1000)).toBe(1);
  });

  it('is refused over a table whose commits cannot check what is remembered', () => {
    class Unchecked extends EphemeralTable {
      override readonly freeChecks = false as true;
    }
    expect(() => new RecentTable(new Unchecked(), clock)).toThrow('a commit can check');
  });
});
