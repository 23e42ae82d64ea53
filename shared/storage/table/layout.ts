import type { Attributes, Expectation, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from './keys/ids.ts';
import { itemKey } from './keys/keys.ts';
import { tokenIs } from './optimistic-write.ts';

/** A version of the layout of table and blobs: docs/data-layout.md#versions */
export interface Layout {
  /** The newest version that any of the data was written in. */
  readonly version: number;
  /** The least version a program must know to read everything correctly. */
  readonly leastReader: number;
  /** The least version a program must know to write without damaging existing data. */
  readonly leastWriter: number;
}

/** The layout that this program writes, unless the data is in a later one. */
export const ownLayout: Layout = { version: 1, leastReader: 1, leastWriter: 1 };

/** The layout of data directories whose table stores items with checksums: those that began with it, or were converted. */
export const sealedLayout: Layout = { version: 2, leastReader: 2, leastWriter: 2 };

/** The layout that a program must know to read a table in which policies limit users: an earlier one would give them full access. */
export const identityLayout = 3;

/** The layout that a program must know where versions may be locked: an earlier one would remove them. */
export const lockedLayout = 4;

/** The newest layout that this program can read and write. */
const knownLayout = lockedLayout;

/** The layout of data that has no layout item, as it was written before the item existed. */
const firstLayout: Layout = { version: 1, leastReader: 1, leastWriter: 1 };

/** Thrown if the data was written by a later version of the program, which this one could misread or damage. */
export class LayoutTooNew extends Error {
  constructor(needed: number, known: number) {
    super(
      `the data is in layout ${needed}, and this version of Stillage knows layouts up to ${known}: run the later version that wrote it`,
    );
    this.name = 'LayoutTooNew';
  }
}

export const layoutKey = itemKey.deployment('layout');

/**
 * Checks that this program knows the layout of a table. Must run before anything else is read or written.
 * @param use whether the program will change anything
 * @throws LayoutTooNew
 */
export async function checkLayout(table: KeyValueTable, use: 'read' | 'write'): Promise<void> {
  known(await storedLayout(table), use);
}

/**
 * Does the same as {@link checkLayout}, by the item that says which one it is.
 * @throws LayoutTooNew
 */
export function checkLayoutItem(item: Attributes, use: 'read' | 'write'): void {
  known(decodeLayout(item), use);
}

/**
 * Does the same as {@link checkLayout}, and records that the program may write its own layout from now on, unless
 * recorded already.
 * @returns the layout that is recorded
 * @throws LayoutTooNew, with nothing changed
 */
export async function claimLayout(
  { table, randomness }: { readonly table: KeyValueTable; readonly randomness: Randomness },
  own: Layout = ownLayout,
): Promise<Layout> {
  for (;;) {
    const stored = await storedLayout(table);
    known(stored, 'write', own);
    if (stored.token !== undefined && stored.version >= own.version) return stored;
    const claimed: Layout = {
      version: own.version,
      leastReader: Math.max(stored.leastReader, own.leastReader),
      leastWriter: Math.max(stored.leastWriter, own.leastWriter),
    };
    const put = { ...claimed, r: writeToken(randomness) };
    const expect: Expectation = stored.token === undefined ? { is: 'absent' } : tokenIs(stored.token);
    if ((await table.write([{ key: layoutKey, put, expect }])).outcome === 'written') return claimed;
  }
}

/**
 * Records that programs must know a layout to read or write this table, before something is written that others misread. The version of the
 * layout, which says how items are stored, stays.
 */
export async function requireLayout(
  { table, randomness }: { readonly table: KeyValueTable; readonly randomness: Randomness },
  least: number,
): Promise<void> {
  for (;;) {
    const { token, ...stored } = await storedLayout(table);
    if (stored.leastReader >= least && stored.leastWriter >= least) return;
    const leastReader = Math.max(stored.leastReader, least);
    const leastWriter = Math.max(stored.leastWriter, least);
    const put = { ...stored, leastReader, leastWriter, r: writeToken(randomness) };
    const expect: Expectation = token === undefined ? { is: 'absent' } : tokenIs(token);
    if ((await table.write([{ key: layoutKey, put, expect }])).outcome === 'written') return;
  }
}

function known(stored: Layout, use: 'read' | 'write', own: Layout = ownLayout): void {
  const needed = use === 'read' ? stored.leastReader : stored.leastWriter;
  const newest = Math.max(knownLayout, own.version);
  if (needed > newest) throw new LayoutTooNew(needed, newest);
}

async function storedLayout(table: KeyValueTable): Promise<Layout & { readonly token: string | undefined }> {
  const item = await table.get(layoutKey);
  return item ? { ...decodeLayout(item), token: item['r'] as string } : { ...firstLayout, token: undefined };
}

function decodeLayout(item: Attributes): Layout {
  return {
    version: item['version'] as number,
    leastReader: item['leastReader'] as number,
    leastWriter: item['leastWriter'] as number,
  };
}
