import type { Attributes, Item } from '../ports/key-value-table.ts';
import { madeAt, writeToken } from '../storage/table/keys/ids.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import { settled } from '../storage/table/settled.ts';
import { decodeContent } from '../storage/versions/stored-values.ts';
import type { Findings } from './findings.ts';
import { reference, type ReferenceFilter } from './reference-filter.ts';
import type { ScrubDeps } from './deps.ts';
import { asRead, tokenIs } from '../storage/table/optimistic-write.ts';

/** Checks what versions refer to within the table: manifests, references to shared content, details. */
export class ContentScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;

  constructor(deps: ScrubDeps, findings: Findings, references: ReferenceFilter) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
  }

  /** Checks an item of a content: references, or the directory or a slice of a manifest. */
  async item(item: Item): Promise<void> {
    const { content, is } = keyParts.content(item.key);
    if (is === 'references') return this.#contentReferences(content, item);
    await (is === 'manifest' ? this.#manifest(content) : this.#slice(content, item));
  }

  async #manifest(content: string): Promise<void> {
    const id = content.slice(1);
    const refs = await this.#deps.table.get(itemKey.references(content));
    if (refs === undefined && this.#isOrphan(madeAt(id), reference.content(content), content)) {
      const mended = await this.#findings.note(
        'orphan-manifest',
        `manifest ${id}`,
        'no version refers to it',
        async () => {
          await this.#deps.manifests.remove(id);
          return true;
        },
      );
      // Its blobs may be parts of an upload or of another manifest: each is checked on its own.
      if (mended) return;
    }
    // The blobs of a manifest without references are freed together with the manifest.
    if (this.#findings.repair && refs !== undefined && this.#isLetGo(content, refs)) return;
    const mention = this.#references.has(reference.content(content)) ? reference.blob : reference.releasedBlob;
    for (const { blob } of await this.#deps.manifests.parts(id)) {
      if (blob !== '') this.#references.add(mention(blob));
    }
  }

  /** Checks a slice. Slices are written before their directory; without a directory they cannot be found. */
  async #slice(content: string, { key }: Item): Promise<void> {
    const id = content.slice(1);
    if (!this.#isOrphan(madeAt(id), reference.content(content), content)) return;
    const directory = await this.#deps.table.get(itemKey.manifest(id));
    if (directory !== undefined) return;
    if ((await this.#deps.table.get(key)) === undefined) return;
    await this.#findings.note('orphan-manifest', `manifest ${id}`, `only ${key.sk} exists`, () => this.#drop(key));
  }

  async #contentReferences(content: string, { key, attributes: refs }: Item): Promise<void> {
    const dead = this.#dead(content, refs);
    const nobody = this.#isLetGo(content, refs);
    if (!this.#findings.sure || (dead.length === 0 && !nobody)) return;
    const present = await this.#deps.table.get(key);
    if (present?.['r'] !== refs['r']) return;
    const what = dead.length > 0 ? dead.join(', ') : 'it has no references';
    await this.#findings.note('dead-holder', `content ${content}`, what, async () => {
      const rest = referencesOf(refs).filter((instance) => !dead.includes(instance));
      const r = writeToken(this.#deps.randomness);
      const { outcome } = await this.#deps.table.write([
        {
          key,
          put: { ...(rest.length > 0 && { holders: new Set(rest) }), r },
          expect: asRead(refs),
        },
      ]);
      if (outcome !== 'written') return false;
      if (nobody) await this.#free(content, r);
      return true;
    });
  }

  async #free(content: string, r: string): Promise<void> {
    const { kind, ...named } = decodeContent(content);
    if (kind === 'blob' && 'ref' in named) await this.#deps.blobs.remove([named.ref]);
    if (kind === 'manifest' && 'id' in named) await this.#deps.manifests.remove(named.id);
    await settled(this.#deps.table.write([{ key: itemKey.references(content), delete: true, expect: tokenIs(r) }]));
  }

  /** Returns whether all references are dead and none is in the release queue, which the release sweep will handle. */
  #isLetGo(content: string, refs: Attributes): boolean {
    const isQueued = this.#references.has(reference.queued(content));
    return !isQueued && this.#dead(content, refs).length === referencesOf(refs).length;
  }

  #dead(content: string, refs: Attributes): readonly string[] {
    return referencesOf(refs).filter(
      (instance) =>
        !this.#findings.isYoung(madeAt(instance)) &&
        !this.#references.has(reference.instance(instance)) &&
        !this.#references.has(reference.queued(content, instance)),
    );
  }

  /** Checks an item of details. */
  async details({ key }: Item): Promise<void> {
    const id = keyParts.details(key);
    if (!this.#isOrphan(madeAt(id), reference.details(id), `d${id}`)) return;
    if ((await this.#deps.table.get(key)) === undefined) return;
    await this.#findings.note('orphan-details', `details ${id}`, 'no version refers to them', () => this.#drop(key));
  }

  #isOrphan(time: number, mention: string, thing: string): boolean {
    return (
      this.#findings.sure &&
      !this.#findings.isYoung(time) &&
      !this.#references.has(mention) &&
      !this.#references.has(reference.queued(thing))
    );
  }

  async #drop(key: Item['key']): Promise<boolean> {
    const { outcome } = await this.#deps.table.write([{ key, delete: true, expect: { is: 'present' } }]);
    return outcome === 'written';
  }
}

function referencesOf(refs: Attributes): readonly string[] {
  return [...((refs['holders'] as ReadonlySet<string> | undefined) ?? [])];
}
