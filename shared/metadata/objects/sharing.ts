import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from '../ids.ts';
import { itemKey } from '../keys.ts';
import type { CommitExtrasFor, CommitExtras } from './new-version.ts';
import { SourceGone } from './outcomes.ts';
import { headKey, VersionChain } from './version-chain.ts';
import { encodeContent, type Version } from './versions.ts';

/** So many versions share the content that its bytes are to be copied instead. */
export class SharedTooOften extends Error {}

/** A version whose bytes another one is to share. */
export interface Source {
  readonly bucketId: string;
  readonly key: string;
  readonly version: Version;
}

const maxHolders = 64;

/**
 * The companion of a copy that may be onto its source: what was changed of the source since it was read, its tags for one,
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
 * Copies that move no bytes. A content is held by the versions that share it; a holder is added only in a commit that is
 * conditional on a living one, so a content that has lost its last holder never gets another.
 */
export class Sharing {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * What a commit must carry for its version to share the bytes of `source`.
   * @throws SourceGone, SharedTooOften
   */
  from(source: Source): CommitExtrasFor {
    const unlessChanged = overItself(source.version);
    return async (version, before, bucket) => {
      await unlessChanged(version, before, bucket);
      return this.#companions(source, version, maxHolders);
    };
  }

  /** As {@link from}, for a version that takes over from `source`: however many share the bytes, they are not copied. */
  handedOn(source: Source): CommitExtrasFor {
    return (version) => this.#companions(source, version, Infinity);
  }

  async #companions(
    { bucketId, key, version: source }: Source,
    copy: Version,
    mostAllowed: number,
  ): Promise<CommitExtras> {
    if (source.content === undefined) return { changes: [], conditions: [] };
    const chain = new VersionChain({ table: this.#table, token: () => '', now: () => 0 }, bucketId, key);
    const found = await chain.findInstance(source.instance);
    if (found === undefined) throw new SourceGone();
    const isCurrent = found.version === found.head;
    const holdersKey = itemKey.holders(encodeContent(source.content));
    const item = await this.#table.get(holdersKey);
    const holders = new Set(item?.['holders'] as ReadonlySet<string> | undefined);
    holders.add(source.instance).add(copy.instance);
    if (holders.size > mostAllowed) throw new SharedTooOften();
    return {
      changes: [
        {
          key: holdersKey,
          put: { holders, r: writeToken(this.#randomness) },
          expect: item === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: item['r'] as string },
        },
      ],
      conditions: [
        {
          key: isCurrent ? headKey(bucketId, key) : itemKey.history(bucketId, key, source.instance),
          expect: { is: 'equal', attribute: 'i', value: source.instance },
        },
      ],
    };
  }
}
