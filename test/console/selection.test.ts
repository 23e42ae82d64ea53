import { describe, expect, it } from 'vitest';
import { Selection, type ShownRows } from '../../console/pages/objects/selection.ts';
import type { S3Client } from '../../console/s3/client.ts';
import type { Entry } from '../../console/s3/listing.ts';
import { parseXml } from '../../console/s3/xml.ts';
import { startLinks } from '../../console/transfers/links.ts';

const entryOf = (key: string): Entry => ({ kind: 'object', key, size: 1, modified: 0, etag: '' });

/** A list that counts how often its entries are looked at. */
function counted(count: number): { readonly entries: readonly Entry[]; readonly looks: () => number } {
  const entries = Array.from({ length: count }, (_, at) => entryOf(`key-${at}`));
  let looks = 0;
  const get = (target: Entry[], name: string | symbol): unknown => {
    if (typeof name === 'string' && /^\d+$/.test(name)) looks++;
    return Reflect.get(target, name);
  };
  return { entries: new Proxy(entries, { get }), looks: () => looks };
}

/** Entries as they are shown. */
function shown(entries: readonly Entry[]): ShownRows {
  return {
    order: entries,
    at: (index) => entries[index],
    between: (from, to) => entries.slice(from, to + 1),
    all: () => entries,
  };
}

describe('the selection', () => {
  it('of all of a very long list costs no more than the rows in view', () => {
    const selection = new Selection();
    const { entries, looks } = counted(100_000);
    const rows = shown(entries);
    selection.all(rows);
    expect(selection.size.value).toBe(100_000);
    for (let row = 50_000; row < 50_040; row++) {
      expect(selection.has(`key-${row}`, { row, order: rows.order })).toBe(true);
    }
    expect(selection.list()).toBe(entries);
    expect(looks()).toBeLessThan(100);
  });

  it('of a part of a very long list knows at once that the rows beside it are not in it', () => {
    const selection = new Selection();
    const { entries, looks } = counted(100_000);
    const rows = { ...shown(entries), between: () => entries };
    selection.only(10, rows);
    selection.extend(99_999, rows);
    for (let row = 0; row < 10; row++) {
      expect(selection.has(`key-${row} of elsewhere`, { row, order: rows.order })).toBe(false);
    }
    expect(looks()).toBeLessThan(100);
  });

  it('is of keys, in whatever order the list is shown later', () => {
    const selection = new Selection();
    const all = Array.from({ length: 10 }, (_, at) => entryOf(`key-${at}`));
    const rows = shown(all);
    selection.only(3, rows);
    selection.extend(6, rows);
    expect(selection.list().map(({ key }) => key)).toEqual(['key-3', 'key-4', 'key-5', 'key-6']);
    // As after sorting the other way round.
    const order = all.toReversed();
    const selected = order.filter(({ key }, row) => selection.has(key, { row, order }));
    expect(selected.map(({ key }) => key)).toEqual(['key-6', 'key-5', 'key-4', 'key-3']);
    selection.extend(1, rows);
    expect(selection.list().map(({ key }) => key)).toEqual(['key-1', 'key-2', 'key-3']);
    selection.toggle(2, rows);
    selection.toggle(8, rows);
    expect(selection.list().map(({ key }) => key)).toEqual(['key-1', 'key-3', 'key-8']);
    selection.clear();
    expect([selection.size.value, selection.has('key-1', { row: 1, order: all })]).toEqual([0, false]);
  });
});

describe('links of a large folder', () => {
  it('are gathered in one list, which is not copied for each', async () => {
    const client = {
      document: async () =>
        parseXml(
          '<PublicLink><Id>i</Id><Url>https://x.test/l</Url><Created>2026-01-01T00:00:00Z</Created>' +
            '<Expires>2026-01-01T00:00:00Z</Expires></PublicLink>',
        ),
    } as unknown as S3Client;
    const entries = Array.from({ length: 500 }, (_, at) => entryOf(`key-${at}`));
    const { job, links } = startLinks(client, 'bucket', entries, 3_600, 'many');
    const { made } = links;
    await expect.poll(() => job.state.value).toBe('done');
    expect([links.made === made, made.length, links.count.value]).toEqual([true, 500, 500]);
  });
});
