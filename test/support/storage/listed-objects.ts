import { neverAborted } from '../../../shared/ports/event-loop.ts';
import { readObjectPage, type VersionSource } from '../../../shared/storage/listings/object-listing.ts';
import type { ListingPosition, ListingRequest } from '../../../shared/storage/listings/listing.ts';
import type { ObjectRows } from '../../../shared/storage/listings/object-page.ts';
import type { VersionRows } from '../../../shared/storage/listings/version-page.ts';
import type { Content } from '../../../shared/storage/versions/stored-values.ts';
import { ListedVersion } from '../../../shared/storage/versions/listed-version.ts';
import { AttributesView } from '../../../shared/storage/table/attributes-view.ts';
import type { Start } from '../../../shared/storage/utf8-order.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';

/** Collects the rows of a listing of objects. */
export class ListedObjects implements ObjectRows {
  readonly all: { readonly key: string; readonly content: Content | undefined }[] = [];

  add({ key, content }: ListedVersion): void {
    this.all.push({ key, content });
  }
}

/** A version as {@link ListedVersions} keeps it. */
export interface KeptVersion {
  readonly key: string;
  readonly id: string;
  readonly instance: string;
  readonly isLatest: boolean;
  readonly marker: boolean;
  readonly content: Content | undefined;
}

/** Collects the rows of a listing of versions. */
export class ListedVersions implements VersionRows {
  readonly #key: string | undefined;
  readonly #all: (KeptVersion | ListedVersions)[] = [];

  /** @param key of all of them, if they are noncurrent versions */
  constructor(key?: string) {
    this.#key = key;
  }

  get all(): readonly KeptVersion[] {
    return this.#all.flatMap((one) => (one instanceof ListedVersions ? one.all : one));
  }

  get size(): number {
    return this.#all.length;
  }

  add(version: ListedVersion): void {
    const { instance, isLatest, marker, content } = version;
    const id = Buffer.from(version.versionId()).toString();
    this.#all.push({ key: this.#key ?? version.key, id, instance, isLatest, marker, content });
  }

  olderOf(key: string): ListedVersions {
    const older = new ListedVersions(key);
    this.#all.push(older);
    return older;
  }

  cut(size: number): void {
    this.#all.length = size;
  }
}

/** At most one of `from` (inclusive) and `after` (exclusive) is given, and it begins with `prefix`. */
export interface ListingQuery extends Start {
  readonly prefix: string;
  readonly limit: number;
}

/** A page of any listing. */
export interface ListingPage<Row> {
  readonly rows: readonly Row[];
  readonly commonPrefixes: readonly string[];
  /** The start of the next page; undefined if this is the last one. */
  readonly next: ListingPosition | undefined;
}

/** A key, and whether it is there: as opposed to a delete marker. */
export interface ObjectEntry {
  readonly key: string;
  readonly live: boolean;
}

/** The entries of a bucket, as pages of queries return them. */
export interface ObjectEntries {
  fetch(query: ListingQuery): Promise<{ readonly entries: readonly ObjectEntry[]; readonly more: boolean }>;
  expired(): boolean;
}

/**
 * Returns the page of a listing of objects.
 * @param seeks whether entries before a position that the listing wants to continue from are left out, as by a table
 *   that shows its items in place; from one that cannot, a listing is shown all entries of a page
 */
export async function objectPage(
  request: ListingRequest,
  entriesOf: ObjectEntries,
  { seeks = false } = {},
): Promise<ListingPage<{ readonly key: string }>> {
  const rows: { key: string }[] = [];
  const view = new AttributesView(ListedVersion.columns);
  const version = new ListedVersion(view);
  const source: VersionSource = {
    expired: () => entriesOf.expired(),
    signal: neverAborted,
    visit: async (query, visit) => {
      const { entries, more } = await entriesOf.fetch(query);
      let wanted: string | undefined;
      for (const { key, live } of entries) {
        if (seeks && wanted !== undefined && compareUtf8(key, wanted) < 0) continue;
        view.show({ key: { pk: 'head/bucket', sk: key }, attributes: live ? {} : { m: 1 } });
        const directive = visit(version);
        if (directive === 'stop') return undefined;
        wanted = directive?.from ?? (directive?.after === undefined ? undefined : `${directive.after}\0`);
      }
      const last = entries.at(-1);
      if (!more) return undefined;
      if (wanted !== undefined && seeks) return { from: wanted };
      return { after: last!.key };
    },
  };
  const page = await readObjectPage(request, source, { add: ({ key }) => rows.push({ key }) });
  expectCount(page.rowCount, rows.length);
  return { rows, commonPrefixes: page.commonPrefixes, next: page.next };
}

function expectCount(counted: number, added: number): void {
  if (counted !== added) throw new Error(`a page counts ${counted} rows but has ${added}`);
}
