import type { BlobDescription } from '../../ports/blob-store.ts';
import { itemKey } from '../table/keys.ts';
import type { Findings } from './findings.ts';
import { KeyVersions } from './key-versions.ts';
import type { ReferenceFilter } from './reference-filter.ts';
import { reference } from './references.ts';
import type { ScrubDeps } from './deps.ts';
import { describe } from './versions.ts';

/** Looks for bytes that nothing refers to. */
export class BlobScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;

  constructor(deps: ScrubDeps, findings: Findings, references: ReferenceFilter) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
  }

  /** One of the blobs in the store. */
  async blob({ ref, size, writtenAt }: BlobDescription): Promise<void> {
    if (!this.#findings.sure || this.#findings.isYoung(writtenAt) || this.#isMentioned(ref)) return;
    const blob = await describe(this.#deps, ref);
    if (blob === undefined) return;
    const { owner } = blob;
    if (owner) {
      // First the place it was written for, then the references: a version that was copied and removed in between has those.
      const versions = new KeyVersions(this.#deps.table, owner.bucketId, owner.key);
      if (await versions.some((version) => version['c'] === `b${ref}`)) return;
    }
    if ((await this.#deps.table.get(itemKey.references(`b${ref}`))) !== undefined) return;
    const whose = owner ? `written for bucket ${owner.bucketId}, key ${owner.key}` : 'its writing was never finished';
    await this.#findings.note('orphan-blob', `blob ${ref}`, `${size} bytes, ${whose}`, async () => {
      await this.#deps.blobs.remove([ref]);
      return true;
    });
  }

  #isMentioned(ref: string): boolean {
    return [reference.content(`b${ref}`), reference.queued(`b${ref}`), reference.blob(ref)].some((name) =>
      this.#references.has(name),
    );
  }
}
