import { day } from '../ports/durations.ts';
import type { Attributes, Condition, Item } from '../ports/key-value-table.ts';
import { madeAt } from '../storage/table/keys/ids.ts';
import { putRecheck } from '../storage/table/rechecks.ts';
import {
  partsPrefix,
  stateKey,
  uploadIndexKey,
  uploadKeyParts,
  uploadPartition,
} from '../storage/table/keys/upload-keys.ts';
import { decodeListed } from '../storage/uploads/upload.ts';
import { finishedUploadTime } from '../storage/uploads/end-upload.ts';
import type { BucketScrub } from './buckets.ts';
import type { Findings } from './findings.ts';
import { reference, type ReferenceFilter } from './reference-filter.ts';
import type { ScrubDeps } from './deps.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

/** The number of ended uploads remembered before the queue is read again. */
const maxSuspects = 10_000;

/** Checks uploads, their parts, and the lists of open uploads. */
export class UploadScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;
  readonly #buckets: BucketScrub;
  readonly #lookAtQueue: () => Promise<void>;
  #suspects: { readonly id: string; readonly initiated: number }[] = [];

  /**
   * @param lookAtQueue waits for the followers of the change feed, then adds the entries of the release queue to the
   * references
   */
  constructor(
    deps: ScrubDeps,
    findings: Findings,
    references: ReferenceFilter,
    buckets: BucketScrub,
    lookAtQueue: () => Promise<void>,
  ) {
    this.#deps = deps;
    this.#findings = findings;
    this.#references = references;
    this.#buckets = buckets;
    this.#lookAtQueue = lookAtQueue;
  }

  /** Checks an item of an upload: its state, or a part. */
  async item(item: Item): Promise<void> {
    const id = uploadKeyParts.upload(item.key)!;
    const part = uploadKeyParts.part(item.key);
    await (part === undefined ? this.#state(id, item.attributes) : this.#part(id, part.id, item));
  }

  async #state(id: string, state: Attributes): Promise<void> {
    const { bucketId, key, initiated } = state as { bucketId: string; key: string; initiated: number };
    if (this.#findings.isYoung(initiated)) return;
    if (state['state'] !== 'open') return this.#ended(id, initiated);
    const indexKey = uploadIndexKey(bucketId, key, id);
    const [present, index] = await this.#deps.table.getTogether([stateKey(id), indexKey]);
    if (present?.['state'] !== 'open') return;
    if (index === undefined) {
      const { initiator, owner } = state as { initiator: string; owner: string };
      await this.#findings.note('unlisted-upload', `upload ${id}`, `bucket ${bucketId}, key ${key}`, async () => {
        const { table, clock, randomness } = this.#deps;
        const recheck = putRecheck(bucketId, { key, lastModified: undefined }, { now: clock.now(), randomness });
        const { outcome } = await table.write(
          [{ key: indexKey, put: { key, id, initiated, initiator, owner }, expect: { is: 'absent' } }, recheck],
          [{ key: stateKey(id), expect: { is: 'equal', attribute: 'state', value: 'open' } }],
        );
        return outcome === 'written';
      });
    }
    // The bucket purge finds uploads by their list.
    await this.#buckets.remains(bucketId, initiated);
  }

  /**
   * An ended upload is cleaned up at once and twice more, with entries in the release queue. It may have ended after
   * the queue was read.
   */
  async #ended(id: string, initiated: number): Promise<void> {
    if (this.#references.has(reference.queued('u', id))) return;
    this.#suspects.push({ id, initiated });
    if (this.#suspects.length >= maxSuspects) await this.end();
  }

  /** Checks the ended uploads for which no entry was found in the queue. */
  async end(): Promise<void> {
    const suspects = this.#suspects;
    this.#suspects = [];
    if (suspects.length > 0) await this.#lookAtQueue();
    for (const { id, initiated } of suspects) {
      if (!this.#references.has(reference.queued('u', id))) await this.#forgotten(id, initiated);
    }
  }

  async #forgotten(id: string, initiated: number): Promise<void> {
    const { items } = await this.#deps.table.query(uploadPartition(id), { prefix: partsPrefix, limit: 1 });
    const isOld = this.#deps.clock.now() - initiated > finishedUploadTime + day;
    if (items.length === 0 && !isOld) return;
    const what = items.length > 0 ? 'parts remain' : 'its retention has ended';
    await this.#findings.note('unfinished-upload', `upload ${id}`, what, async () => {
      await this.#deps.uploads.finish(id);
      return true;
    });
  }

  async #part(id: string, partId: string, { key, attributes }: Item): Promise<void> {
    const blob = attributes['blob'];
    const [state, present] = await this.#deps.table.getTogether([stateKey(id), key]);
    if (present === undefined) return;
    if (state === undefined && !this.#findings.isYoung(madeAt(partId))) {
      const mended = await this.#findings.note('orphan-part', `upload ${id}`, key.sk, async () => {
        const { outcome } = await this.#deps.table.write(
          [{ key, delete: true, expect: { is: 'present' } }],
          [{ key: stateKey(id), expect: { is: 'absent' } }],
        );
        return outcome === 'written';
      });
      if (mended) return;
    }
    if (typeof blob !== 'string') return;
    this.#references.add(state?.['state'] === 'open' ? reference.blob(blob) : reference.releasedBlob(blob));
  }

  /** Checks an entry in a bucket's list of open uploads. */
  async listed({ key, attributes }: Item): Promise<void> {
    const { id, initiated } = decodeListed(attributes);
    if (this.#findings.isYoung(initiated)) return;
    const [state, present] = await this.#deps.table.getTogether([stateKey(id), key]);
    if (present === undefined) return;
    if (state?.['state'] === 'open') {
      await this.#buckets.remains(uploadKeyParts.openUpload(key), initiated);
      return;
    }
    const condition: Condition = {
      key: stateKey(id),
      expect: asRead(state),
    };
    await this.#findings.note('listed-upload', key.pk, `upload ${id}`, async () => {
      const { outcome } = await this.#deps.table.write([{ key, delete: true, expect: { is: 'present' } }], [condition]);
      return outcome === 'written';
    });
  }
}
