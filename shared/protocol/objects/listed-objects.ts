import type { Projects } from '../../access/identity.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { ObjectRows } from '../../metadata/listings/object-page.ts';
import type { ListedRow } from '../../metadata/listings/version-listing.ts';
import type { ListedVersion } from '../../metadata/objects/listed-version.ts';
import { versionIdOf, type Version } from '../../metadata/objects/versions.ts';
import { ListedRows, type VersionRow } from '../../xml/listed-rows.ts';
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

/** Returns the rows of a listing of versions. */
export function versionRows(
  rows: readonly ListedRow[],
  { projects, bucket }: Deps,
  encoding: NameEncoding | undefined,
): Promise<Uint8Array> {
  const written = new ListedRows(encoding);
  for (const { key, version, isLatest } of rows) {
    const row = new VersionInMemory(key, version, isLatest);
    const owner = ownerIn(bucket, version.owner);
    if (version.marker) written.deleteMarker(row, owner);
    else written.version(row, owner);
  }
  return withOwners(written, projects);
}

async function withOwners(rows: ListedRows, projects: Projects): Promise<Uint8Array> {
  return rows.bytes(await ownersOf(rows.owners, projects));
}

class VersionInMemory implements VersionRow {
  readonly keyBytes: Uint8Array;
  readonly keyStart = 0;
  readonly keyEnd: number;
  readonly isLatest: boolean;
  readonly #version: Version;

  constructor(key: string, version: Version, isLatest: boolean) {
    this.keyBytes = Buffer.from(key);
    this.keyEnd = this.keyBytes.length;
    this.isLatest = isLatest;
    this.#version = version;
  }

  get versionId(): string {
    return versionIdOf(this.#version);
  }

  get lastModified(): number {
    return this.#version.lastModified;
  }

  get size(): number {
    return this.#version.size;
  }

  get partCount(): number | undefined {
    return this.#version.partCount;
  }

  get storageClass(): string | undefined {
    return this.#version.storageClass;
  }

  copyMd5(target: Uint8Array): number {
    const { md5 } = this.#version;
    if (md5 === undefined) return 0;
    target.set(md5.subarray(0, target.length));
    return md5.length;
  }
}
