import { sealedSize } from '../../encryption/segments.ts';
import { BlobMissing, type OwnedBlob } from '../../ports/blob-store.ts';
import type { Attributes, Item } from '../../ports/key-value-table.ts';
import { madeAt, writeToken } from '../ids.ts';
import { itemKey } from '../keys.ts';
import { headKey, VersionChain } from '../objects/version-chain.ts';
import { decodeVersion, encodeContent, type Version } from '../objects/versions.ts';
import type { FindingKind, Findings } from './findings.ts';
import { KeyHistory } from './key-history.ts';
import type { ReferenceFilter } from './reference-filter.ts';
import { reference } from './references.ts';
import type { ScrubDeps } from './deps.ts';

/** A version, the key it belongs to, and its item. */
interface Place {
  readonly bucketId: string;
  readonly key: string;
  readonly item: Item;
}

/** Looks at keys: whether head and history fit, whether what their versions refer to is there, and who shares it. */
export class VersionScrub {
  /** The ids of buckets with heads that count wrong. */
  readonly miscounting = new Set<string>();
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;

  constructor(deps: ScrubDeps, findings: Findings, references: ReferenceFilter) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
  }

  /** A head: its key's history, and itself. */
  async head(bucketId: string, item: Item): Promise<void> {
    const key = item.key.sk;
    this.#mention(item.attributes);
    if (knowsOthers(item.attributes)) await this.#history(bucketId, key);
    await this.#version({ bucketId, key, item });
  }

  /** A version of a history. @param isFirst of those of its key: for one, it is looked whether there is a head above them */
  async older(bucketId: string, key: string, item: Item, isFirst: boolean): Promise<void> {
    this.#mention(item.attributes);
    if (isFirst) {
      const [head] = await this.#deps.table.getTogether([headKey(bucketId, key)]);
      if (head === undefined || !knowsOthers(head)) await this.#history(bucketId, key);
    }
    await this.#version({ bucketId, key, item });
  }

  async #history(bucketId: string, key: string): Promise<void> {
    const { table, clock, randomness } = this.#deps;
    const history = new KeyHistory(table, bucketId, key);
    const examine = () => history.examine((version) => this.#mention(version));
    let damage = await examine();
    if (damage === undefined) return;
    // A transaction may be half visible to reads for a moment: what is wrong is wrong a second later, too.
    if (!table.freeChecks) await clock.sleep(1000);
    damage = await examine();
    if (damage === 'busy') this.#findings.unsure(`the key ${key} of the bucket ${bucketId} never stood still`);
    if (damage === undefined || damage === 'busy' || this.#findings.isYoung(damage.changedAt)) return;
    const found = damage;
    const mended = await this.#findings.note('broken-history', named(bucketId, key), found.problems.join('; '), () =>
      history.mend(found, () => writeToken(randomness)),
    );
    if (!mended) this.miscounting.add(bucketId);
  }

  /** Remembers what a version refers to. */
  #mention(version: Attributes): void {
    if (typeof version['c'] === 'string') {
      this.#references.add(reference.content(version['c']));
      this.#references.add(reference.instance(version['i'] as string));
    }
    if (typeof version['d'] === 'string') this.#references.add(reference.details(version['d']));
  }

  async #version(place: Place): Promise<void> {
    const version = decodeVersion(place.item.attributes);
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
    await this.#holder(place, version, owner);
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

  /** @returns whose the bytes were when they were written, if they are there */
  async #blob(place: Place, version: Version, ref: string, size: number): Promise<OwnedBlob['owner']> {
    const stored = version.encryption === undefined || size === 0 ? size : sealedSize(size);
    const blob = await describe(this.#deps, ref);
    if (blob === undefined) await this.#lost('missing-blob', place, `blob ${ref}`);
    // Where the store itself encrypts, a version is marked as encrypted, and its bytes are as long as they came.
    else if (blob.size !== stored && blob.size !== size) {
      await this.#lost('cut-blob', place, `blob ${ref} has ${blob.size} bytes of ${stored}`);
    }
    return blob?.owner;
  }

  /** Unless it was only removed meanwhile, with what it referred to. */
  async #lost(kind: FindingKind, { bucketId, key, item }: Place, what: string): Promise<void> {
    const found = await this.#chain(bucketId, key).findInstance(item.attributes['i'] as string);
    if (found === undefined) return;
    const { objectAttributes } = found.version;
    const detailsNow = 'details' in objectAttributes ? objectAttributes.details : undefined;
    if (kind === 'missing-details' && detailsNow !== item.attributes['d']) return;
    await this.#findings.note(kind, named(bucketId, key, item.attributes['i'] as string), what);
  }

  /** Content that is shared lists its holders; and content that was written for another key is shared. */
  async #holder({ bucketId, key, item }: Place, version: Version, owner: OwnedBlob['owner']): Promise<void> {
    const { table, randomness } = this.#deps;
    const content = encodeContent(version.content!);
    const refs = await table.get(itemKey.holders(content));
    const isElsewhere = owner !== undefined && (owner.bucketId !== bucketId || owner.key !== key);
    const holders = new Set(refs?.['holders'] as ReadonlySet<string> | undefined);
    if (refs === undefined ? !isElsewhere : holders.has(version.instance)) return;
    if (this.#findings.isYoung(madeAt(version.instance))) return;
    await this.#findings.note(
      'missing-holder',
      named(bucketId, key, version.instance),
      `of content ${content}`,
      async () => {
        const { outcome } = await table.write(
          [
            {
              key: itemKey.holders(content),
              put: { holders: holders.add(version.instance), r: writeToken(randomness) },
              expect:
                refs === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: refs['r'] as string },
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

/** Whether a head says anything of a history. */
function knowsOthers(head: Attributes): boolean {
  return ['n', 'nm', 'nb', 'z', 'u'].some((name) => head[name] !== undefined);
}

/** The blob without its bytes, or undefined. */
export async function describe({ blobs }: Pick<ScrubDeps, 'blobs'>, ref: string): Promise<OwnedBlob | undefined> {
  return blobs.describe(ref).catch((error: unknown) => {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  });
}

function named(bucketId: string, key: string, instance?: string): string {
  return `bucket ${bucketId}, key ${key}${instance === undefined ? '' : `, version ${instance}`}`;
}
