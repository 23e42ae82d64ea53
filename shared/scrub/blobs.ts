import { BlobMissing, type BlobDescription } from '../ports/blob-store.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import type { Findings } from './findings.ts';
import { KeyVersions } from './key-versions.ts';
import { reference, type ReferenceFilter } from './reference-filter.ts';
import type { ScrubDeps } from './deps.ts';
import { describe } from './versions.ts';

/** Finds bytes that nothing refers to. */
export class BlobScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;

  constructor(deps: ScrubDeps, findings: Findings, references: ReferenceFilter) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
  }

  /** Checks a blob of the store. */
  async blob({ ref, size, writtenAt }: BlobDescription): Promise<void> {
    if (!this.#findings.sure || this.#findings.isYoung(writtenAt) || this.#isMentioned(ref)) return;
    const blob = await describe(this.#deps, ref);
    if (blob === undefined) return;
    const { owner } = blob;
    if (owner) {
      // The key it was written for comes first, then the references: a version copied and then removed in between has
      // references.
      const versions = new KeyVersions(this.#deps.table, owner.bucketId, owner.key);
      if (await versions.some((version) => version['c'] === `b${ref}`)) return;
    }
    if ((await this.#deps.table.get(itemKey.references(`b${ref}`))) !== undefined) return;
    const whose = owner ? `written for bucket ${owner.bucketId}, key ${owner.key}` : 'it was never completely written';
    await this.#findings.note('orphan-blob', `blob ${ref}`, `${size} bytes, ${whose}`, async () => {
      await this.#deps.blobs.remove([ref]);
      return true;
    });
  }

  /**
   * Reads a blob of a version or an open upload, which verifies it if it has checksums. Released content is left out, as nobody can ask
   * for it, and it may be half removed: after a power failure, a file may be back whose checksums are not.
   */
  async content({ ref, size }: BlobDescription): Promise<void> {
    if (!this.#isInUse(ref)) return;
    try {
      for await (const _ of await this.#deps.blobs.read(ref, size));
    } catch (error) {
      if (error instanceof BlobMissing) return;
      const owner = (await describe(this.#deps, ref))?.owner;
      const where = owner ? `blob ${ref}, written for bucket ${owner.bucketId}, key ${owner.key}` : `blob ${ref}`;
      await this.#findings.note('damaged-blob', where, (error as Error).message);
    }
  }

  #isInUse(ref: string): boolean {
    return this.#has(reference.content(`b${ref}`), reference.blob(ref));
  }

  #isMentioned(ref: string): boolean {
    return this.#isInUse(ref) || this.#has(reference.queued(`b${ref}`), reference.releasedBlob(ref));
  }

  #has(...names: readonly string[]): boolean {
    return names.some((name) => this.#references.has(name));
  }
}
