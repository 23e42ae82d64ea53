import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neverAborted } from '../../../../shared/ports/event-loop.ts';
import { markerOf, positionOf } from '../../../../shared/storage/listings/listing-token.ts';
import type { ListingPosition, ListingRequest } from '../../../../shared/storage/listings/listing.ts';
import { listUploads } from '../../../../shared/storage/listings/upload-listing.ts';
import {
  objectPage,
  type ListingPage,
  type ListingQuery,
  type ObjectEntries,
  type ObjectEntry,
} from '../../../support/storage/listed-objects.ts';
import { runs } from '../../../support/runs/runs.ts';

/* A table in memory, and a naive listing of it to compare with. */

interface CurrentVersion extends ObjectEntry {
  /** Version ids, newest first. A listing of objects has at most one row for the key. */
  readonly versions: readonly string[];
}

function bytesOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function currentVersion(key: string, { live = true, versions = ['v1'] as readonly string[] } = {}): CurrentVersion {
  return { key, live, versions };
}

interface Trace {
  readonly queries: ListingQuery[];
  read: number;
}

function tableOf(currentVersions: Iterable<CurrentVersion>, trace: Trace, shortenTo?: () => number) {
  const sorted = [...currentVersions].sort((a, b) => bytesOrder(a.key, b.key));
  return async (query: ListingQuery): Promise<{ entries: CurrentVersion[]; more: boolean }> => {
    trace.queries.push(query);
    const start = query.from ?? query.after;
    expect(query.from === undefined || query.after === undefined).toBe(true);
    if (start !== undefined) {
      expect(start.startsWith(query.prefix)).toBe(true);
      expect(Buffer.byteLength(start)).toBeLessThanOrEqual(1024);
    }
    const all = sorted.filter(
      ({ key }) =>
        key.startsWith(query.prefix) &&
        (query.from === undefined || bytesOrder(key, query.from) >= 0) &&
        (query.after === undefined || bytesOrder(key, query.after) > 0),
    );
    const entries = all.slice(0, Math.min(query.limit, shortenTo?.() ?? query.limit));
    trace.read += entries.length;
    return { entries, more: entries.length < all.length };
  };
}

const never = () => false;

function objectSource(
  currentVersions: Iterable<CurrentVersion>,
  trace: Trace = { queries: [], read: 0 },
): ObjectEntries {
  return { fetch: tableOf(currentVersions, trace), expired: never };
}

interface UploadSource {
  fetch(query: ListingQuery): Promise<{ readonly entries: readonly CurrentVersion[]; readonly more: boolean }>;
  expired(): boolean;
}

function uploadSource(entries: Iterable<CurrentVersion>): UploadSource {
  return { fetch: tableOf(entries, { queries: [], read: 0 }), expired: never };
}

/** The page of a listing of uploads, of which each entry has several: its versions stand for them. */
async function uploadPage(
  { position, ...request }: ListingRequest,
  source: UploadSource,
): Promise<ListingPage<{ readonly key: string; readonly id: string }>> {
  const openFrom = async (_: unknown, query: ListingQuery) => {
    const { entries, more } = await source.fetch(query);
    return { uploads: entries.flatMap(({ key, versions }) => versions.map((id) => ({ key, id }) as never)), more };
  };
  let asked = 0;
  const now = (): number => (asked++ > 0 && source.expired() ? 1 : 0);
  const markers = { keyMarker: position?.after ?? '', uploadIdMarker: position?.row ?? '' };
  const deps = { uploads: { openFrom }, clock: { now }, signal: neverAborted };
  const { next, ...page } = await listUploads(deps, {} as never, { ...request, ...markers }, 0);
  const row = next?.uploadIdMarker;
  return { ...page, next: next && { after: next.keyMarker, ...(row !== undefined && { row }) } };
}

/** Lines as text, in the order in which they count: `key`, `key#version`, `group*`. */
function linesOf(page: ListingPage<{ key: string; id?: string }>): string[] {
  const keys = page.rows.map(({ key }) => key);
  expect(keys).toEqual([...keys].sort(bytesOrder));
  expect(page.commonPrefixes).toEqual([...page.commonPrefixes].sort(bytesOrder));
  const rows = page.rows.map(({ key, id }) => ({ name: key, line: id === undefined ? key : `${key}#${id}` }));
  const groups = page.commonPrefixes.map((name) => ({ name, line: `${name}*` }));
  return [...rows, ...groups].sort((a, b) => bytesOrder(a.name, b.name)).map(({ line }) => line);
}

function naiveLines(
  currentVersions: readonly CurrentVersion[],
  {
    prefix,
    delimiter,
    after = '',
    versions = false,
  }: { prefix: string; delimiter: string; after?: string; versions?: boolean },
): string[] {
  const lines: string[] = [];
  for (const { key, live, versions: ids } of [...currentVersions].sort((a, b) => bytesOrder(a.key, b.key))) {
    if (!live || !key.startsWith(prefix)) continue;
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const name = at < 0 ? key : key.slice(0, at + delimiter.length);
    if (after !== '' && bytesOrder(name, after) <= 0) continue;
    if (at < 0) lines.push(...(versions ? ids.map((id) => `${key}#${id}`) : [key]));
    else if (!lines.includes(`${name}*`)) lines.push(`${name}*`);
  }
  return lines;
}

/* Generators of keys and of listings. */

const unit = fc.constantFrom('a', 'b', '/', '//', '%', ' ', '\u0001', '\ud7ff', '\ue000', '\ufffd', '😀', '\u{10ffff}');
const keyText = fc.string({ unit, minLength: 1, maxLength: 5 });
const currentVersions = fc.uniqueArray(
  fc.record({
    key: keyText,
    live: fc.boolean(),
    versions: fc.integer({ min: 1, max: 4 }).map((count) => Array.from({ length: count }, (_, index) => `v${index}`)),
  }),
  { selector: ({ key }) => key, maxLength: 40 },
);
const request = fc.record({
  prefix: fc.oneof(fc.constant(''), fc.string({ unit, maxLength: 2 })),
  delimiter: fc.oneof(fc.constant(''), fc.constant('/'), fc.string({ unit, minLength: 1, maxLength: 2 })),
  limit: fc.integer({ min: 1, max: 12 }),
});

describe('a listing in pages', () => {
  it('shows what a naive listing shows; every page is full or the last', async () => {
    await fc.assert(
      fc.asyncProperty(
        currentVersions,
        request,
        fc.boolean(),
        async (currentVersions, { prefix, delimiter, limit }, seeks) => {
          const expected = naiveLines(currentVersions, { prefix, delimiter });
          const source = objectSource(currentVersions);
          const shown: string[] = [];
          let position: ListingPosition | undefined;
          do {
            const page = await objectPage({ prefix, delimiter, limit, position }, source, { seeks });
            const lines = linesOf(page);
            expect(lines.length).toBe(Math.min(limit, expected.length - shown.length));
            shown.push(...lines);
            position = page.next;
            expect(position !== undefined).toBe(shown.length < expected.length);
          } while (position !== undefined);
          expect(shown).toEqual(expected);
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  it('begins behind any marker, which hides its own group', async () => {
    await fc.assert(
      fc.asyncProperty(
        currentVersions,
        request,
        keyText,
        async (currentVersions, { prefix, delimiter, limit }, after) => {
          const expected = naiveLines(currentVersions, { prefix, delimiter, after });
          const page = await objectPage(
            { prefix, delimiter, limit, position: { after } },
            objectSource(currentVersions),
          );
          expect(linesOf(page)).toEqual(expected.slice(0, limit));
          expect(page.next !== undefined).toBe(expected.length > limit);
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  it('of uploads shows every row once, resuming within a key', async () => {
    await fc.assert(
      fc.asyncProperty(currentVersions, request, async (generated, { prefix, delimiter, limit }) => {
        const currentVersions = generated.map((one) => ({ ...one, live: true }));
        const expected = naiveLines(currentVersions, { prefix, delimiter, versions: true });
        const shown: string[] = [];
        let position: ListingPosition | undefined;
        do {
          const page = await uploadPage({ prefix, delimiter, limit, position }, uploadSource(currentVersions));
          const lines = linesOf(page);
          expect(lines.length).toBe(Math.min(limit, expected.length - shown.length));
          shown.push(...lines);
          position = page.next;
        } while (position !== undefined);
        expect(shown).toEqual(expected);
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    ['objects', false],
    ['uploads', true],
  ])(
    'of %s that expires at any time, from a table that answers short, still shows all once and ends',
    async (_, versions) => {
      await fc.assert(
        fc.asyncProperty(
          currentVersions,
          request,
          fc.infiniteStream(fc.boolean()),
          fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
          async (generated, { prefix, delimiter, limit }, expiries, sizes) => {
            const currentVersions = versions ? generated.map((one) => ({ ...one, live: true })) : generated;
            const restless = {
              fetch: tableOf(currentVersions, { queries: [], read: 0 }, () => sizes.next().value as number),
              expired: () => expiries.next().value as boolean,
            };
            const page = (position: ListingPosition | undefined) => {
              const asked = { prefix, delimiter, limit, position };
              return versions
                ? uploadPage(asked, restless)
                : objectPage(asked, { ...objectSource(currentVersions), ...restless });
            };
            const shown: string[] = [];
            let position: ListingPosition | undefined;
            let pages = 0;
            do {
              const { next, ...lines } = await page(position);
              shown.push(...linesOf({ next, ...lines }));
              if (next !== undefined && next.row === undefined) {
                // Positions travel as markers (ListObjects) and must survive it.
                expect(positionOf(markerOf(next), prefix, delimiter)).toEqual(next);
              }
              position = next;
              expect(++pages).toBeLessThanOrEqual(8 * currentVersions.length + 1);
            } while (position !== undefined);
            expect(shown).toEqual(naiveLines(currentVersions, { prefix, delimiter, versions }));
          },
        ),
        { numRuns: runs(1000) },
      );
    },
  );
});

describe('a page', () => {
  const files = ['a', 'b/1', 'b/2', 'c', 'd/1'].map((key) => currentVersion(key));
  const request = { prefix: '', delimiter: '/', position: undefined, limit: 1000 };

  it('of no lines asks nothing and is the last', async () => {
    const trace: Trace = { queries: [], read: 0 };
    expect(await objectPage({ ...request, limit: 0 }, objectSource(files, trace))).toEqual({
      rows: [],
      commonPrefixes: [],
      next: undefined,
    });
    expect(trace.queries).toEqual([]);
  });

  it('counts a group as one line, in its place', async () => {
    const first = await objectPage({ ...request, limit: 2 }, objectSource(files));
    expect(linesOf(first)).toEqual(['a', 'b/*']);
    expect(first.next).toEqual({ after: 'b/' });
    const second = await objectPage({ ...request, limit: 2, position: first.next }, objectSource(files));
    expect(linesOf(second)).toEqual(['c', 'd/*']);
    expect(second.next).toBeUndefined();
  });

  it.each(['b/', 'b/1', 'b/0', 'b/zzz'])('behind the marker %j does not show the group b/', async (after) => {
    const page = await objectPage({ ...request, position: { after } }, objectSource(files));
    expect(linesOf(page)).toEqual(['c', 'd/*']);
  });

  it('shows a group at its first living key, and not at all without one', async () => {
    const currentVersions = [
      currentVersion('dead/1', { live: false }),
      currentVersion('mixed/1', { live: false }),
      currentVersion('mixed/2'),
    ];
    expect(linesOf(await objectPage(request, objectSource(currentVersions)))).toEqual(['mixed/*']);
  });

  it('without a delimiter is one query of one entry more than fit', async () => {
    const trace: Trace = { queries: [], read: 0 };
    await objectPage({ ...request, delimiter: '', limit: 3 }, objectSource(files, trace));
    expect(trace.queries).toEqual([{ prefix: '', limit: 4 }]);
  });

  it('for a prefix or marker longer than any key asks nothing that the table refuses', async () => {
    const long = 'k'.repeat(2000);
    const currentVersions = [currentVersion('k'.repeat(1024)), currentVersion('l')];
    expect((await objectPage({ ...request, prefix: long }, objectSource(currentVersions))).rows).toEqual([]);
    const page = await objectPage({ ...request, position: { after: long } }, objectSource(currentVersions));
    expect(linesOf(page)).toEqual(['l']);
  });

  it('shows a key of full length that ends with the delimiter as a group, and goes on behind it', async () => {
    const group = `${'k'.repeat(1023)}/`;
    const first = await objectPage(
      { ...request, limit: 1 },
      objectSource([currentVersion(group), currentVersion('l')]),
    );
    expect(linesOf(first)).toEqual([`${group}*`]);
    const second = await objectPage(
      { ...request, position: first.next },
      objectSource([currentVersion(group), currentVersion('l')]),
    );
    expect(linesOf(second)).toEqual(['l']);
  });

  it('of uploads skips the group that the key marker lies in, whatever the id', async () => {
    const page = await uploadPage({ ...request, position: { after: 'b/1', row: 'v1' } }, uploadSource(files));
    expect(linesOf(page)).toEqual(['c#v1', 'd/*']);
  });

  it('of uploads begins at the next key if the marked one is gone', async () => {
    const page = await uploadPage({ ...request, position: { after: 'aa', row: 'v1' } }, uploadSource(files));
    expect(linesOf(page)).toEqual(['b/*', 'c#v1', 'd/*']);
  });

  it('of uploads ends, truncated, inside a key of many rows', async () => {
    const versions = Array.from({ length: 5000 }, (_, index) => `v${index}`);
    const page = await uploadPage(request, uploadSource([currentVersion('a', { versions })]));
    expect(page.rows).toHaveLength(1000);
    expect(page.next).toEqual({ after: 'a', row: 'v999' });
  });

  it.each(['g/2', 'h'])(
    'that is full names its last line as the next position, before dead keys and %s',
    async (key) => {
      const currentVersions = [currentVersion('a'), currentVersion('g/1', { live: false }), currentVersion(key)];
      const page = await objectPage({ ...request, limit: 1 }, objectSource(currentVersions));
      expect(page).toEqual({ rows: [{ key: 'a' }], commonPrefixes: [], next: { after: 'a' } });
    },
  );

  it('that always expires, from a table that answers one entry at a time, gets on among uploads too', async () => {
    const currentVersions = [currentVersion('a', { versions: ['v1', 'v2'] }), currentVersion('b'), currentVersion('c')];
    const source = {
      fetch: tableOf(currentVersions, { queries: [], read: 0 }, () => 1),
      expired: () => true,
    };
    const next: ListingPosition[] = [];
    let position: ListingPosition | undefined;
    do {
      const page = await uploadPage({ ...request, limit: 2, position }, source);
      if (page.next !== undefined) next.push(page.next);
      position = page.next;
    } while (position !== undefined && next.length < 10);
    expect(next).toEqual([{ after: 'a', row: 'v2' }, { after: 'a' }, { after: 'b', row: 'v1' }, { after: 'b' }]);
  });

  it('that expires among delete markers ends short, at the last key examined', async () => {
    const dead = Array.from({ length: 2000 }, (_, index) =>
      currentVersion(`k${String(index).padStart(5, '0')}`, { live: false }),
    );
    const page = await objectPage({ ...request, delimiter: '' }, { ...objectSource(dead), expired: () => true });
    expect(page).toEqual({ rows: [], commonPrefixes: [], next: { after: 'k01000' } });
  });

  it('that expires among delete markers of a group remembers that it is not shown', async () => {
    const dead = Array.from({ length: 2000 }, (_, index) =>
      currentVersion(`g/${String(index).padStart(5, '0')}`, { live: false }),
    );
    const page = await objectPage(request, { ...objectSource([...dead, currentVersion('g/z')]), expired: () => true });
    expect(page.next).toEqual({ after: 'g/00255', inside: true });
    const rest = await objectPage({ ...request, position: page.next }, objectSource([...dead, currentVersion('g/z')]));
    expect(linesOf(rest)).toEqual(['g/*']);
  });
});

/** Keys `g<group>/<number>` that exist only as arithmetic. */
function virtualGroups(groups: number, keysPerGroup: number, trace: Trace): ObjectEntries {
  const groupWidth = String(groups).length;
  const keyWidth = String(keysPerGroup).length;
  const keyAt = (index: number) =>
    `g${String(Math.floor(index / keysPerGroup)).padStart(groupWidth, '0')}/${String(index % keysPerGroup).padStart(keyWidth, '0')}`;
  const total = groups * keysPerGroup;
  /** Returns the first index whose key is not before the position or, with `exclusive`, is after it. */
  const search = (place: string, exclusive: boolean) => {
    let [low, high] = [0, total];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const key = keyAt(middle);
      if (key < place || (exclusive && key === place)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    expired: never,
    async fetch(query) {
      trace.queries.push(query);
      const first =
        query.from !== undefined
          ? search(query.from, false)
          : query.after !== undefined
            ? search(query.after, true)
            : 0;
      const end = Math.min(total, first + query.limit);
      trace.read += end - first;
      const entries = Array.from({ length: end - first }, (_, index) => ({ key: keyAt(first + index), live: true }));
      return { entries, more: end < total };
    },
  };
}

describe('effort', () => {
  it.each([
    // groups, keys per group, limit, most queries, most keys read
    [10, 100_000, 1000, 11, 1000],
    [1000, 1000, 1000, 1001, 65_000],
    [1000, 3, 1000, 4, 3000],
    [300, 40, 1000, 6, 12_000],
    [1_000_000, 1, 1000, 2, 1001],
  ])(
    '%i groups of %i keys, %i lines: at most %i queries and %i keys read',
    async (groups, keys, limit, queries, read) => {
      const trace: Trace = { queries: [], read: 0 };
      const source = virtualGroups(groups, keys, trace);
      const page = await objectPage({ prefix: '', delimiter: '/', position: undefined, limit }, source);
      expect(page.commonPrefixes).toHaveLength(Math.min(groups, limit));
      expect(trace.queries.length).toBeLessThanOrEqual(queries);
      expect(trace.read).toBeLessThanOrEqual(read);
    },
  );

  it('in pages of one line, does not read the group the page before ended with', async () => {
    const trace: Trace = { queries: [], read: 0 };
    const source = virtualGroups(10, 100_000, trace);
    let position: ListingPosition | undefined;
    let pages = 0;
    do {
      const page = await objectPage({ prefix: '', delimiter: '/', position, limit: 1 }, source);
      expect(page.commonPrefixes).toHaveLength(1);
      position = page.next;
      pages++;
    } while (position !== undefined);
    expect(pages).toBe(10);
    expect(trace.queries.length).toBeLessThanOrEqual(20);
    expect(trace.read).toBeLessThan(1500);
  });

  it('a million delete markers are read in large queries', async () => {
    const trace: Trace = { queries: [], read: 0 };
    const groups = virtualGroups(1, 1_000_000, trace);
    const page = await objectPage(
      { prefix: '', delimiter: '', position: undefined, limit: 1000 },
      {
        ...groups,
        fetch: async (query) => {
          const { entries, more } = await groups.fetch(query);
          return { entries: entries.map(({ key }) => ({ key, live: false })), more };
        },
      },
    );
    expect(page).toEqual({ rows: [], commonPrefixes: [], next: undefined });
    expect(trace.queries.length).toBeLessThan(130);
  });
});
