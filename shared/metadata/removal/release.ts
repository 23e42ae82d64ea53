import type { BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Item, KeyValueTable, Stored } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { sortableTime, writeToken } from '../ids.ts';
import { garbagePartitions, itemKey, partition } from '../keys.ts';
import type { Manifests } from '../objects/manifests.ts';
import { currentVersionKey } from '../objects/version-chain.ts';
import { decodeContent } from '../objects/versions.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { uploadCode, type Place } from './release-queue.ts';

/**
 * Gives back the bytes of versions that are gone: looks at each entry of the queue again once its grace is over, because a version
 * may only have moved, or share its content. Any repetition is harmless.
 */
export class Release {
  readonly #table: KeyValueTable;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #manifests: Manifests;
  readonly #uploads: Uploads;

  constructor(deps: {
    table: KeyValueTable;
    blobs: BlobStore;
    clock: Clock;
    randomness: Randomness;
    manifests: Manifests;
    uploads: Uploads;
  }) {
    this.#table = deps.table;
    this.#blobs = deps.blobs;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#manifests = deps.manifests;
    this.#uploads = deps.uploads;
  }

  /** Looks at every entry that is due. @returns how many things were freed */
  async sweep(): Promise<number> {
    let freed = 0;
    const now = sortableTime(this.#clock.now());
    for (let spreadNumber = 0; spreadNumber < garbagePartitions; spreadNumber += 1) {
      let after: string | undefined;
      for (let more = true; more;) {
        const page = await this.#table.query(partition.garbage(spreadNumber), {
          limit: 100,
          ...(after !== undefined && { after }),
        });
        const due = page.items.filter(({ key }) => key.sk.split('/', 1)[0]! <= now);
        for (const entry of due) if (await this.#settle(entry)) freed += 1;
        after = page.items.at(-1)?.key.sk;
        more = page.more && due.length === page.items.length;
      }
    }
    return freed;
  }

  /** Decides one entry, and drops it. */
  async #settle(entry: Item): Promise<boolean> {
    const [, thing, instance] = entry.key.sk.split('/') as [string, string, string];
    if (thing === uploadCode) {
      await this.#uploads.finish(instance);
      await this.#table.write([{ key: entry.key, delete: true }]);
      return false;
    }
    const { bucketId, key } = entry.attributes as Stored<Place>;
    const isDetails = thing.startsWith('d');
    const [currentVersion, older, references] = await this.#table.getTogether([
      currentVersionKey(bucketId, key),
      itemKey.noncurrentVersion(bucketId, key, instance),
      itemKey.references(thing),
    ]);
    const present = currentVersion?.['i'] === instance ? currentVersion : older;
    const stillUsed = present !== undefined && (!isDetails || present['d'] === thing.slice(1));
    const free = !stillUsed && (isDetails || (await this.#letGo(thing, instance, references)));
    if (free) await this.#free(thing, references !== undefined);
    await this.#table.write([{ key: entry.key, delete: true }]);
    return free;
  }

  /** Removes the reference of a version to its content. @returns whether it was the last */
  async #letGo(content: string, instance: string, references: Attributes | undefined): Promise<boolean> {
    for (let item = references; item !== undefined; item = await this.#table.get(itemKey.references(content))) {
      const rest = [...((item['holders'] as ReadonlySet<string> | undefined) ?? [])].filter((one) => one !== instance);
      const put = { ...(rest.length > 0 && { holders: new Set(rest) }), r: writeToken(this.#randomness) };
      const { outcome } = await this.#table.write([
        { key: itemKey.references(content), put, expect: { is: 'equal', attribute: 'r', value: item['r'] as string } },
      ]);
      if (outcome === 'written') return rest.length === 0;
    }
    return true;
  }

  async #free(thing: string, hasReferences: boolean): Promise<void> {
    if (thing.startsWith('d')) {
      await this.#table.write([{ key: itemKey.details(thing.slice(1)), delete: true }]);
      return;
    }
    const content = decodeContent(thing);
    if (content.kind === 'blob') {
      await this.#blobs.remove([content.ref]);
    } else {
      const parts = await this.#manifests.parts(content.id);
      await this.#blobs.remove(parts.map(({ blob }) => blob).filter((blob) => blob !== ''));
      await this.#manifests.remove(content.id);
    }
    if (hasReferences) await this.#table.write([{ key: itemKey.references(thing), delete: true }]);
  }
}
