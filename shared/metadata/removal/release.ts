import type { BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, FeedRecord, Item, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { sortableTime, writeToken } from '../ids.ts';
import { garbagePartitions, itemKey, objectOf, partition } from '../keys.ts';
import type { Manifests } from '../objects/manifests.ts';
import { finishedUploadTime, type Uploads } from '../uploads/uploads.ts';
import { headKey } from '../objects/version-chain.ts';
import { decodeContent } from '../objects/versions.ts';

/** What a garbage entry must say so that the version it speaks of can be looked for again. */
interface Place {
  readonly bucketId: string;
  readonly key: string;
}

/** A thing a version referred to when it was last seen: its content, or its details. */
interface Candidate {
  readonly place: Place;
  readonly instance: string;
  /** `b…` or `m…` for content, `d…` for details. */
  readonly thing: string;
}

const entriesPerWrite = 50;
/** An entry of this kind speaks of an upload that ended. */
const uploadCode = 'u';
/** How long a part may still arrive that began before its upload ended. */
const uploadGrace = 60 * 60 * 1000;

/**
 * Gives back the bytes of versions that are gone. A follower of the change feed notes candidates in a queue; a sweeper looks at
 * each again once the grace is over, because a version may only have moved, or share its content. Any repetition is harmless.
 */
export class Release {
  readonly #table: KeyValueTable;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #manifests: Manifests;
  readonly #uploads: Uploads;
  readonly #grace: number;

  /** @param rooms.grace milliseconds for which readers that found a version may still read it */
  constructor(rooms: {
    table: KeyValueTable;
    blobs: BlobStore;
    clock: Clock;
    randomness: Randomness;
    manifests: Manifests;
    uploads: Uploads;
    grace: number;
  }) {
    this.#table = rooms.table;
    this.#blobs = rooms.blobs;
    this.#clock = rooms.clock;
    this.#randomness = rooms.randomness;
    this.#manifests = rooms.manifests;
    this.#uploads = rooms.uploads;
    this.#grace = rooms.grace;
  }

  /** Queues what the records let go of. */
  async follow(records: readonly FeedRecord[]): Promise<void> {
    const now = this.#clock.now();
    const entries = new Map<string, Change>();
    const queue = (delay: number, thing: string, instance: string, put: Attributes): void => {
      const key = itemKey.garbage(spread(instance), sortableTime(now + delay), thing, instance);
      entries.set(key.sk, { key, put });
    };
    for (const { thing, instance, place } of records.flatMap(candidates))
      queue(this.#grace, thing, instance, { ...place });
    for (const id of records.flatMap(endedUpload)) {
      await this.#uploads.finish(id);
      // Once more for parts that were under way, and at last for the state itself.
      for (const delay of [uploadGrace, finishedUploadTime + uploadGrace]) queue(delay, uploadCode, id, { upload: id });
    }
    const changes = [...entries.values()];
    for (let at = 0; at < changes.length; at += entriesPerWrite) {
      const { outcome } = await this.#table.write(changes.slice(at, at + entriesPerWrite));
      if (outcome !== 'written') throw new Error('the garbage queue could not be written');
    }
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
    const { bucketId, key } = entry.attributes as unknown as Place;
    const isDetails = thing.startsWith('d');
    const [head, older, holders] = await this.#table.getTogether([
      headKey(bucketId, key),
      itemKey.history(bucketId, key, instance),
      itemKey.holders(thing),
    ]);
    const present = head?.['i'] === instance ? head : older;
    const stillUsed = present !== undefined && (!isDetails || present['d'] === thing.slice(1));
    const free = !stillUsed && (isDetails || (await this.#letGo(thing, instance, holders)));
    if (free) await this.#free(thing, holders !== undefined);
    await this.#table.write([{ key: entry.key, delete: true }]);
    return free;
  }

  /** Takes a version off the holders of its content. @returns whether nobody holds it now */
  async #letGo(content: string, instance: string, holders: Attributes | undefined): Promise<boolean> {
    for (let item = holders; item !== undefined; item = await this.#table.get(itemKey.holders(content))) {
      const rest = [...((item['holders'] as ReadonlySet<string> | undefined) ?? [])].filter((one) => one !== instance);
      const put = { ...(rest.length > 0 && { holders: new Set(rest) }), r: writeToken(this.#randomness) };
      const { outcome } = await this.#table.write([
        { key: itemKey.holders(content), put, expect: { is: 'equal', attribute: 'r', value: item['r'] as string } },
      ]);
      if (outcome === 'written') return rest.length === 0;
    }
    return true;
  }

  async #free(thing: string, hasHolders: boolean): Promise<void> {
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
    if (hasHolders) await this.#table.write([{ key: itemKey.holders(thing), delete: true }]);
  }
}

/** What one record of a head or a history item may have let go of. */
function candidates({ key, old, new: present }: FeedRecord): readonly Candidate[] {
  const object = objectOf(key);
  if (object === undefined || old === undefined) return [];
  const place = { bucketId: object.bucketId, key: object.key };
  const instance = old['i'] as string;
  const content = old['c'] as string | undefined;
  const details = old['d'] as string | undefined;
  const isSameVersion = present?.['i'] === instance;
  return [
    ...(content !== undefined && !isSameVersion ? [{ place, instance, thing: content }] : []),
    ...(details !== undefined && !(isSameVersion && present['d'] === details)
      ? [{ place, instance, thing: `d${details}` }]
      : []),
  ];
}

/** The id of an upload that a record shows to have ended. */
function endedUpload({ key, old, new: present }: FeedRecord): readonly string[] {
  const ended = key.pk.startsWith('upload/') && old?.['state'] === 'open' && present !== undefined;
  return ended && present['state'] !== 'open' ? [key.pk.slice('upload/'.length)] : [];
}

function spread(instance: string): number {
  return instance.charCodeAt(instance.length - 1) % garbagePartitions;
}
