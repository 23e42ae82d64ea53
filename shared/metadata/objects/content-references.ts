import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from '../table/ids.ts';
import { itemKey } from '../table/keys.ts';
import type { CommitExtrasFor, CommitExtras } from './new-version.ts';
import { SourceGone } from './outcomes.ts';
import { currentVersionKey, VersionChain } from './version-chain.ts';
import { encodeContent } from './content.ts';
import type { Version } from './versions.ts';

/** So many versions refer to the content that its bytes are to be copied instead. */
export class TooManyReferences extends Error {}

/** A version to whose content another one is to refer. */
export interface Source {
  readonly bucketId: string;
  readonly key: string;
  readonly version: Version;
}

const maxReferences = 64;

/**
 * The extras of a copy that may be onto its source: what was changed of the source since it was read, its tags for one,
 * would be lost.
 * @throws SourceGone
 */
export function overItself(source: Version): CommitExtrasFor {
  return async (_, before) => {
    if (before?.instance === source.instance && before.token !== source.token) throw new SourceGone();
    return { changes: [], conditions: [] };
  };
}

/**
 * Copies that move no bytes. Versions that share a content are its references; one is added only in a commit that is conditional
 * on the version of another, so a content that has lost its last reference never gets one again.
 */
export class ContentReferences {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * What a commit must carry for its version to refer to the content of `source`.
   * @throws SourceGone, SharedTooOften
   */
  from(source: Source): CommitExtrasFor {
    const unlessChanged = overItself(source.version);
    return async (version, before, bucket) => {
      await unlessChanged(version, before, bucket);
      return this.#extras(source, version, maxReferences);
    };
  }

  /** As {@link from}, for a version that takes over from `source`: however many refer to the bytes, they are not copied. */
  handedOn(source: Source): CommitExtrasFor {
    return (version) => this.#extras(source, version, Infinity);
  }

  async #extras({ bucketId, key, version: source }: Source, copy: Version, mostAllowed: number): Promise<CommitExtras> {
    if (source.content === undefined) return { changes: [], conditions: [] };
    const chain = new VersionChain({ table: this.#table, token: () => '', now: () => 0 }, bucketId, key);
    const found = await chain.findInstance(source.instance);
    if (found === undefined) throw new SourceGone();
    const isCurrent = found.version === found.currentVersion;
    const referencesKey = itemKey.references(encodeContent(source.content));
    const item = await this.#table.get(referencesKey);
    const references = new Set(item?.['holders'] as ReadonlySet<string> | undefined);
    references.add(source.instance).add(copy.instance);
    if (references.size > mostAllowed) throw new TooManyReferences();
    return {
      changes: [
        {
          key: referencesKey,
          put: { holders: references, r: writeToken(this.#randomness) },
          expect: item === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: item['r'] as string },
        },
      ],
      conditions: [
        {
          key: isCurrent ? currentVersionKey(bucketId, key) : itemKey.noncurrentVersion(bucketId, key, source.instance),
          expect: { is: 'equal', attribute: 'i', value: source.instance },
        },
      ],
    };
  }
}
