import { createHash } from 'node:crypto';
import { sealedSize } from '../encryption/segments.ts';
import { BlobDamaged, BlobMissing, type BytesCheck, type OwnedBlob } from '../ports/blob-store.ts';
import type { Attributes, Item } from '../ports/key-value-table.ts';
import { madeAt, writeToken } from '../storage/table/keys/ids.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import { putRecheck } from '../storage/table/rechecks.ts';
import { currentVersionKey, VersionChain } from '../storage/version-changes/version-chain.ts';
import { currentVersionOnly, decodeVersion, thingsOf, type Version } from '../storage/versions/versions.ts';
import { encodeContent } from '../storage/versions/stored-values.ts';
import type { FindingKind, Findings } from './findings.ts';
import { KeyVersions } from './key-versions.ts';
import { reference, type ReferenceFilter } from './reference-filter.ts';
import type { ScrubDeps } from './deps.ts';
import { Slice } from './slice.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

/** A version, its key and its item. */
interface Place {
  readonly bucketId: string;
  readonly key: string;
  readonly item: Item;
}

/**
 * Checks keys: the consistency of current and noncurrent versions, whether what the versions refer to exists, and
 * references.
 */
export class VersionScrub {
  /** The ids of buckets with current versions whose counts are wrong. */
  readonly miscounting = new Set<string>();
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;
  readonly #readsContent: boolean;
  readonly #slice: Slice;

  constructor(
    deps: ScrubDeps,
    findings: Findings,
    references: ReferenceFilter,
    { content = false, slice = Slice.whole }: { readonly content?: boolean; readonly slice?: Slice },
  ) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
    this.#readsContent = content;
    this.#slice = slice;
  }

  /** Checks a current version: the version chain of its key, and the version itself. */
  async currentVersion(bucketId: string, item: Item): Promise<void> {
    const key = item.key.sk;
    this.#mention(item.attributes);
    if (knowsOthers(item.attributes)) await this.#versionsOf(bucketId, key, this.#slice.has(item.key));
    await this.#version({ bucketId, key, item });
  }

  /**
   * Checks a noncurrent version.
   * @param isFirst whether it is the first of its key: only then the version chain is checked
   */
  async older(bucketId: string, key: string, item: Item, isFirst: boolean): Promise<void> {
    this.#mention(item.attributes);
    if (isFirst) {
      const [currentVersion] = await this.#deps.table.getTogether([currentVersionKey(bucketId, key)]);
      if (currentVersion === undefined || !knowsOthers(currentVersion)) {
        await this.#versionsOf(bucketId, key, this.#slice.has(item.key));
      }
    }
    await this.#version({ bucketId, key, item });
  }

  /** @param isReported whether damage is a finding of this slice; its bucket is left out of the count in any case */
  async #versionsOf(bucketId: string, key: string, isReported: boolean): Promise<void> {
    const { table, clock, randomness } = this.#deps;
    const versions = new KeyVersions(table, bucketId, key);
    const examine = () => versions.examine((version) => this.#mention(version));
    let damage = await examine();
    if (damage === undefined) return;
    // A transaction may be half visible to reads for a moment; real damage is still there a second later.
    if (!table.freeChecks) await clock.sleep(1000);
    damage = await examine();
    if (damage === 'busy') this.#findings.unsure(`the key ${key} of the bucket ${bucketId} kept changing`);
    if (damage === undefined || damage === 'busy' || this.#findings.isYoung(damage.changedAt)) return;
    const found = damage;
    if (!isReported) return void this.miscounting.add(bucketId);
    const mended = await this.#findings.note('broken-history', named(bucketId, key), found.problems.join('; '), () =>
      versions.mend(found, {
        token: () => writeToken(randomness),
        along: putRecheck(bucketId, { key, lastModified: undefined }, { now: clock.now(), randomness }),
      }),
    );
    if (!mended) this.miscounting.add(bucketId);
  }

  /** Remembers what a version refers to. */
  #mention(version: Attributes): void {
    for (const thing of thingsOf(version)) this.#references.add(reference.thing(thing));
    if (typeof version['c'] === 'string') this.#references.add(reference.instance(version['i'] as string));
  }

  async #version(place: Place): Promise<void> {
    // Also in other slices: a version that cannot be decoded may refer to anything.
    const version = decodeVersion(place.item.attributes);
    if (!this.#slice.has(place.item.key)) return;
    if ('details' in version.objectAttributes) {
      const details = await this.#deps.table.get(itemKey.details(version.objectAttributes.details));
      if (details === undefined) await this.#lost('missing-details', place, version.objectAttributes.details);
    }
    const { content } = version;
    if (content === undefined) return;
    const owner =
      content.kind === 'blob'
        ? await this.#blob(place, version, content.ref, version.size)
        : await this.#manifest(place, version, content.id);
    await this.#contentReference(place, version, owner);
  }

  async #manifest(place: Place, version: Version, id: string): Promise<OwnedBlob['owner']> {
    const parts = await this.#deps.manifests.parts(id);
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    if (parts.length === 0 || size !== version.size) {
      await this.#lost('missing-manifest', place, `${parts.length} parts of ${size} bytes in the manifest ${id}`);
    }
    let owner: OwnedBlob['owner'];
    for (const part of parts) {
      if (part.blob !== '') owner = (await this.#blob(place, version, part.blob, part.size)) ?? owner;
    }
    return owner;
  }

  /** @returns the bucket and key that the bytes were written for, if they exist */
  async #blob(place: Place, version: Version, ref: string, size: number): Promise<OwnedBlob['owner']> {
    const stored = version.encryption === undefined || size === 0 ? size : sealedSize(size);
    const blob = await describe(this.#deps, ref);
    if (blob === undefined) await this.#lost('missing-blob', place, `blob ${ref}`);
    // Where the store itself encrypts, the version is marked as encrypted but the blob has the size of the plaintext.
    else if (blob.size !== stored && blob.size !== size) {
      await this.#lost('cut-blob', place, `blob ${ref} has ${blob.size} bytes of ${stored}`);
    } else if (this.#readsContent && blob.isUnverified) await this.#formerBlob(place, version, blob);
    return blob?.owner;
  }

  /**
   * Compares a blob without checksums with the MD5 of its version, if that is the MD5 of these bytes. A repair also stores
   * checksums: of bytes that match, and of those that cannot be compared.
   */
  async #formerBlob(place: Place, version: Version, { ref, size }: OwnedBlob): Promise<void> {
    const check = formerBlobCheck(version);
    if (!check.isComparable) {
      this.#findings.leaveOut(
        'bytes of blobs without checksums that have no MD5 to compare with: parts, and encrypted ones',
      );
      if (!this.#findings.repair) return;
    }
    const matches = await this.#checkBytes(ref, size, check);
    if (matches === false) await this.#lost('damaged-blob', place, `blob ${ref} does not match its MD5`);
  }

  /** @returns whether the bytes passed; undefined if they cannot be read, which the walk over all blobs reports */
  async #checkBytes(ref: string, size: number, check: BytesCheck): Promise<boolean | undefined> {
    const { blobs } = this.#deps;
    try {
      if (this.#findings.repair && blobs.addChecksums !== undefined) {
        const isAdded = await blobs.addChecksums(ref, size, check);
        if (isAdded) this.#findings.seen.checksummed += 1;
        return isAdded;
      }
      for await (const chunk of await blobs.read(ref, size)) await check.update(chunk);
      return check.matches();
    } catch (error) {
      const isUnreadable = error instanceof BlobDamaged || (error as NodeJS.ErrnoException).syscall === 'read';
      if (isUnreadable || error instanceof BlobMissing) return undefined;
      throw error;
    }
  }

  /** Reports a loss, unless the version was removed in the meantime, together with what it referred to. */
  async #lost(kind: FindingKind, { bucketId, key, item }: Place, what: string): Promise<void> {
    const found = await this.#chain(bucketId, key).findInstance(item.attributes['i'] as string);
    if (found === undefined) return;
    const { objectAttributes } = found.version;
    const detailsNow = 'details' in objectAttributes ? objectAttributes.details : undefined;
    if (kind === 'missing-details' && detailsNow !== item.attributes['d']) return;
    await this.#findings.note(kind, named(bucketId, key, item.attributes['i'] as string), what);
  }

  /**
   * Checks that shared content lists this version as a reference. Content written for another key is shared content.
   */
  async #contentReference({ bucketId, key, item }: Place, version: Version, owner: OwnedBlob['owner']): Promise<void> {
    const { table, randomness } = this.#deps;
    const content = encodeContent(version.content!);
    const refs = await table.get(itemKey.references(content));
    const isElsewhere = owner !== undefined && (owner.bucketId !== bucketId || owner.key !== key);
    const references = new Set(refs?.['holders'] as ReadonlySet<string> | undefined);
    if (refs === undefined ? !isElsewhere : references.has(version.instance)) return;
    if (this.#findings.isYoung(madeAt(version.instance))) return;
    await this.#findings.note(
      'missing-holder',
      named(bucketId, key, version.instance),
      `of content ${content}`,
      async () => {
        const { outcome } = await table.write(
          [
            {
              key: itemKey.references(content),
              put: { holders: references.add(version.instance), r: writeToken(randomness) },
              expect: asRead(refs),
            },
          ],
          [{ key: item.key, expect: { is: 'equal', attribute: 'i', value: version.instance } }],
        );
        return outcome === 'written';
      },
    );
  }

  #chain(bucketId: string, key: string): VersionChain {
    return new VersionChain({ table: this.#deps.table, token: () => '', now: () => 0 }, bucketId, key);
  }
}

/** Returns whether a current version refers to noncurrent ones. */
function knowsOthers(currentVersion: Attributes): boolean {
  return [...currentVersionOnly, 'u'].some((name) => currentVersion[name] !== undefined);
}

/** Returns the description of a blob, or undefined if the blob does not exist. */
export async function describe({ blobs }: Pick<ScrubDeps, 'blobs'>, ref: string): Promise<OwnedBlob | undefined> {
  return blobs.describe(ref).catch((error: unknown) => {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  });
}

function named(bucketId: string, key: string, instance?: string): string {
  return `bucket ${bucketId}, key ${key}${instance === undefined ? '' : `, version ${instance}`}`;
}

/**
 * Returns a check of a blob without checksums, which an earlier version wrote: against the MD5 of the version that refers to it, if that
 * is the MD5 of these bytes. For parts and encrypted objects it is not, and all bytes pass.
 */
export function formerBlobCheck(version: Version | undefined): BytesCheck & { readonly isComparable: boolean } {
  const md5 = version?.encryption === undefined && version?.content?.kind === 'blob' ? version.md5 : undefined;
  if (md5 === undefined) return { isComparable: false, update: () => undefined, matches: () => true };
  const digest = createHash('md5');
  return {
    isComparable: true,
    update: (bytes) => void digest.update(bytes),
    matches: () => digest.digest().equals(md5),
  };
}
