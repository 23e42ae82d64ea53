import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from '../table/keys/ids.ts';
import { itemKey } from '../table/keys/keys.ts';
import type { CommitExtrasFor, CommitExtras } from '../version-changes/new-version.ts';
import { SourceGone } from '../version-changes/outcomes.ts';
import { currentVersionKey, VersionChain } from '../version-changes/version-chain.ts';
import { encodeContent } from '../versions/stored-values.ts';
import type { Version } from '../versions/versions.ts';
import { asRead } from '../table/optimistic-write.ts';

/** The content has the maximum number of references: its bytes must be copied instead. */
export class TooManyReferences extends Error {}

/** The version whose content another version will share. */
export interface Source {
  readonly bucketId: string;
  readonly key: string;
  readonly version: Version;
}

const maxReferences = 64;

/**
 * Returns the commit extras of a copy that may replace its own source. If the source has changed since it was read, for example its
 * tags, the copy would overwrite the change.
 * @throws SourceGone if it has
 */
export function overItself(source: Version): CommitExtrasFor {
  return async (_, before) => {
    if (before?.instance === source.instance && before.token !== source.token) throw new SourceGone();
    return { changes: [], conditions: [] };
  };
}

/**
 * Copies without copying bytes. The versions that share a content are its references. A reference is added only in a commit that is
 * conditional on an existing one, so content that has lost its last reference never gets another.
 */
export class ContentReferences {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * Returns the commit extras by which a version shares the content of `source`.
   * @throws SourceGone, TooManyReferences
   */
  from(source: Source): CommitExtrasFor {
    const unlessChanged = overItself(source.version);
    return async (version, before, bucket) => {
      await unlessChanged(version, before, bucket);
      return this.#extras(source, version, maxReferences);
    };
  }

  /** As {@link from}, for a version that replaces `source`. The number of references is not limited. */
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
          expect: asRead(item),
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
