import type { Projects } from '../../access/identity.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { ObjectRows } from '../../storage/listings/object-page.ts';
import type { VersionRows } from '../../storage/listings/version-page.ts';
import type { ListedVersion } from '../../storage/versions/listed-version.ts';
import { ListedRows, type RowKey } from '../../xml/listed-rows.ts';
import type { NameEncoding } from '../../xml/utf8-writer.ts';
import { ownersOf } from '../acls/owners.ts';
import { ownerIn } from '../authorisation/ownership.ts';

interface Deps {
  readonly projects: Projects;
  readonly bucket: Bucket;
}

/** Writes the rows of a listing of objects while they are read. */
export class ObjectRowsXml implements ObjectRows {
  readonly #rows: ListedRows;
  readonly #deps: Deps;
  readonly #showOwner: boolean;

  constructor(
    deps: Deps,
    { encoding, showOwner }: { readonly encoding: NameEncoding | undefined; showOwner: boolean },
  ) {
    this.#rows = new ListedRows(encoding);
    this.#deps = deps;
    this.#showOwner = showOwner;
  }

  add(version: ListedVersion): void {
    this.#rows.object(version, this.#showOwner ? ownerIn(this.#deps.bucket, version.owner) : undefined);
  }

  /** Returns the rows, with the names of their owners. */
  bytes(): Promise<Uint8Array> {
    return withOwners(this.#rows, this.#deps.projects);
  }
}

/** Writes the rows of a listing of versions while they are read. */
export class VersionRowsXml implements VersionRows {
  readonly #rows: ListedRows;
  readonly #deps: Deps;

  constructor(deps: Deps, encoding: NameEncoding | undefined) {
    this.#rows = new ListedRows(encoding);
    this.#deps = deps;
  }

  get size(): number {
    return this.#rows.size;
  }

  cut(size: number): void {
    this.#rows.cut(size);
  }

  add(version: ListedVersion): void {
    this.#write(this.#rows, version, version);
  }

  olderOf(key: string): Pick<VersionRows, 'add'> {
    const rows = this.#rows.inserted();
    const keyBytes = Buffer.from(key);
    const rowKey: RowKey = { keyBytes, keyStart: 0, keyEnd: keyBytes.length };
    return { add: (version) => this.#write(rows, rowKey, version) };
  }

  /** Returns the rows, with the names of their owners. */
  bytes(): Promise<Uint8Array> {
    return withOwners(this.#rows, this.#deps.projects);
  }

  #write(rows: ListedRows, key: RowKey, version: ListedVersion): void {
    const owner = ownerIn(this.#deps.bucket, version.owner);
    if (version.marker) rows.deleteMarker(key, version, owner);
    else rows.version(key, version, owner);
  }
}

async function withOwners(rows: ListedRows, projects: Projects): Promise<Uint8Array> {
  return rows.bytes(await ownersOf(rows.owners, projects));
}
