import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { describe, expect, it, vi } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { PublicLinks } from '../../../../shared/storage/objects/public-links.ts';
import type { Version } from '../../../../shared/storage/versions/versions.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const bucket = { name: 'bucket', id: `0${'b'.repeat(21)}` } as Bucket;
const day = 24 * 60 * 60 * 1000;
const version = { instance: 'i'.repeat(32), named: false } as Version;

function deps() {
  const table = new MemoryTable();
  const clock = new SetClock();
  const buckets = { readyFor: async () => bucket, exactConditions: () => [], stale: () => bucket };
  return { table, clock, links: new PublicLinks({ table, buckets, clock, randomness: new CryptoRandomness() }) };
}

async function itemsOf(table: MemoryTable): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of table.scan()) found.push(key.pk.split('/')[0]!);
  return found.toSorted();
}

describe('PublicLinks', () => {
  it('opens a link by its token until its time is over, and not a moment longer', async () => {
    const { clock, links } = deps();
    const { link, token } = await links.create(asService(bucket, 'key'), version, 1000);
    expect(await links.open(token)).toEqual(link);
    clock.time += 999;
    expect(await links.open(token)).toEqual(link);
    clock.time += 1;
    expect(await links.open(token)).toBeUndefined();
    expect(await links.find(bucket.id, 'key', link.id)).toBeUndefined();
    expect(await links.list(bucket.id, 'key', { after: '', limit: 10 })).toEqual({ links: [], more: false });
  });

  it('sweeps all of a link away once its time is over, and leaves the others', async () => {
    const { table, clock, links } = deps();
    for (let count = 0; count < 250; count += 1)
      await links.create(asService(bucket, `key ${count % 7}`), version, 1000 + count);
    const { token } = await links.create(asService(bucket, 'key'), version, day);
    await links.sweep();
    expect(await itemsOf(table)).toHaveLength(251 * 3);
    clock.time += 1249;
    await links.sweep();
    expect(await itemsOf(table)).toEqual(['link', 'links', 'links-due']);
    expect(await links.open(token)).toBeDefined();
    clock.time += day;
    await links.sweep();
    expect(await itemsOf(table)).toEqual([]);
  });

  it('sweeps many with each commit', async () => {
    const { table, clock, links } = deps();
    for (let count = 0; count < 100; count += 1) await links.create(asService(bucket, 'key'), version, 1000);
    clock.time += day;
    const writes = vi.spyOn(table, 'write');
    await links.sweep();
    expect(await itemsOf(table)).toEqual([]);
    expect(writes.mock.calls.length).toBeLessThanOrEqual(4);
  });

  it('that are too many for a rename are not all read', async () => {
    const { table, links } = deps();
    for (let count = 0; count < 300; count += 1) await links.create(asService(bucket, 'key'), version, day);
    const queries = vi.spyOn(table, 'query');
    const renamed = links.moved({ bucketId: bucket.id, key: 'key', version }, { key: 'other', version });
    await expect(renamed).rejects.toMatchObject({ code: 'InvalidRequest' });
    expect(queries).toHaveBeenCalledOnce();
  });

  it('leaves nothing behind of a link that was revoked', async () => {
    const { table, links } = deps();
    const { link, token } = await links.create(asService(bucket, 'key'), version, 1000);
    await links.revoke(asService(bucket, 'key'), link, undefined);
    expect(await itemsOf(table)).toEqual([]);
    expect(await links.open(token)).toBeUndefined();
  });

  it('fills its pages, whatever has ended in between', async () => {
    const { clock, links } = deps();
    const lasting: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      clock.time += 1;
      const lasts = count % 3 === 0;
      const { link } = await links.create(asService(bucket, 'key'), version, lasts ? day : 100);
      if (lasts) lasting.push(link.id);
    }
    clock.time += 200;
    const found: string[] = [];
    for (let after = '', more = true; more;) {
      const page = await links.list(bucket.id, 'key', { after, limit: 4 });
      expect(page.links.length).toBe(page.more ? 4 : 2);
      found.push(...page.links.map(({ id }) => id));
      after = found.at(-1)!;
      ({ more } = page);
    }
    expect(found).toEqual(lasting);
    expect(await links.list(bucket.id, 'key', { after: '', limit: 0 })).toEqual({ links: [], more: false });
  });

  it('looks nothing up for what is no token', async () => {
    const { table, links } = deps();
    for (const token of ['', 'short', '=', 'é'.repeat(43), 'A'.repeat(44)])
      expect(await links.open(token)).toBeUndefined();
    expect(table.calls.get).toBe(0);
  });
});
