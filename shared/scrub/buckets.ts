import { day } from '../ports/durations.ts';
import type { Attributes, Condition, Expectation, Item } from '../ports/key-value-table.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { madeAt, sortableTime, writeToken } from '../storage/table/keys/ids.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';
import { itemKey, partition } from '../storage/table/keys/keys.ts';
import { partitionPages } from '../storage/table/pages.ts';
import { listingsOf } from './bucket-listings.ts';
import type { Findings } from './findings.ts';
import type { ScrubDeps } from './deps.ts';
import type { StandingBuckets } from './standing-buckets.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

/** The last sweep of a tombstone is due after a day; the sweeper may have been stopped for another. */
const tombstoneTime = 2 * day;

/** Checks buckets, their documents, the lists of them, and the remains of deleted buckets. */
export class BucketScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;
  readonly #standing: StandingBuckets;
  /** Lost buckets already reported, and those for which only items without a time were found. */
  readonly #lost = new Set<string>();
  readonly #uncertain = new Set<string>();

  constructor(deps: ScrubDeps, findings: Findings, standing: StandingBuckets) {
    this.#deps = deps;
    this.#findings = findings;
    this.#standing = standing;
  }

  /** Checks the item of a bucket. */
  async bucket({ key, attributes: bucket }: Item): Promise<void> {
    if (this.#findings.isYoung(numberOf(bucket['created']))) return;
    const name = keyParts.bucket(key);
    await this.#transition(name, bucket, 'ct', 'cu');
    await this.#transition(name, bucket, 'st', 'su');
    await this.#listings(name, bucket);
    for (const [kind, revision] of Object.entries((bucket['docs'] ?? {}) as Record<string, string>)) {
      const document = await this.#deps.table.get(itemKey.bucketDocument(bucket['id'] as string, kind, revision));
      if (document !== undefined || this.#findings.isYoung(madeAt(revision))) continue;
      const present = await this.#deps.table.get(key);
      if ((present?.['docs'] as Record<string, string> | undefined)?.[kind] !== revision) continue;
      await this.#findings.note('missing-document', `bucket ${name}`, `its ${kind}, revision ${revision}`);
    }
  }

  async #transition(name: string, bucket: Attributes, token: 'ct' | 'st', until: 'cu' | 'su'): Promise<void> {
    const end = bucket[until];
    if (bucket[token] === undefined || this.#findings.isYoung(numberOf(end))) return;
    const key = itemKey.bucket(name);
    const what = `${token === 'ct' ? 'closing' : 'settling'} until ${new Date(numberOf(end)).toISOString()}`;
    await this.#findings.note('stale-transition', `bucket ${name}`, what, async () => {
      const present = await this.#deps.table.get(key);
      if (present === undefined || present[token] !== bucket[token]) return false;
      const { [token]: _t, [until]: _u, ...rest } = present;
      return this.#write(key, { ...rest, r: this.#token() }, asRead(present));
    });
  }

  /** Checks the lists that the bucket must be in. */
  async #listings(name: string, bucket: Attributes): Promise<void> {
    for (const { key, put, mark } of listingsOf(name, bucket)) {
      const [listing, present] = await this.#deps.table.getTogether([key, itemKey.bucket(name)]);
      if (listing?.[mark] === put[mark] || present?.['r'] !== bucket['r']) continue;
      const expect: Expectation =
        listing === undefined ? { is: 'absent' } : { is: 'equal', attribute: mark, value: listing[mark] as string };
      const mended = await this.#findings.note('unlisted-bucket', `bucket ${name}`, `in ${key.pk}`, () =>
        this.#write(key, put, expect, [{ key: itemKey.bucket(name), expect: asRead(bucket) }]),
      );
      if (mended) await this.count(bucket['project'] as string);
    }
  }

  /**
   * Checks an entry of one of those lists.
   * @param name the bucket that the entry refers to
   */
  async listing(name: string, { key, attributes }: Item): Promise<void> {
    if (this.#findings.isYoung(numberOf(attributes['created']))) return;
    const [bucket, present] = await this.#deps.table.getTogether([itemKey.bucket(name), key]);
    if (present === undefined) return;
    const right = bucket && listingsOf(name, bucket).find((one) => one.key.pk === key.pk && one.key.sk === key.sk);
    if (right && present[right.mark] === right.put[right.mark]) return;
    const condition: Condition = {
      key: itemKey.bucket(name),
      expect: asRead(bucket),
    };
    const mended = await this.#findings.note(
      'listed-bucket',
      `item ${key.pk} ${key.sk}`,
      `bucket ${name}`,
      async () => {
        const { outcome } = await this.#deps.table.write(
          [{ key, delete: true, expect: { is: 'present' } }],
          [condition],
        );
        return outcome === 'written';
      },
    );
    const owner = keyParts.ofProject(key);
    if (mended && owner) await this.count(owner.project);
  }

  /** Compares a project's bucket count with its list of buckets. */
  async count(project: string): Promise<void> {
    const key = itemKey.bucketCount(project);
    const before = await this.#deps.table.get(key);
    const count = await this.#countEntries(project);
    const [after] = await this.#deps.table.getTogether([key]);
    const counted = numberOf(before?.['count']);
    // Creating or removing a bucket writes the count in the same commit, so a changed token means a change in between.
    if (counted === count || before?.['r'] !== after?.['r']) return;
    await this.#findings.note('bucket-count', `project ${project}`, `${counted} instead of ${count}`, () =>
      this.#write(key, { count, r: this.#token() }, asRead(before)),
    );
  }

  async #countEntries(project: string): Promise<number> {
    let count = 0;
    const entries = partitionPages(this.#deps.table, partition.project(project), { prefix: 'bucket/' });
    for await (const { length } of entries) count += length;
    return count;
  }

  /** Checks a document of a bucket. */
  async document({ key }: Item): Promise<void> {
    const { bucketId, kind, revision } = keyParts.bucketDocument(key);
    if (await this.remains(bucketId, madeAt(revision))) return;
    const name = this.#standing.nameOf(bucketId);
    if (name === undefined || this.#findings.isYoung(madeAt(revision))) return;
    const bucket = await this.#deps.table.get(itemKey.bucket(name));
    if (bucket?.['id'] !== bucketId) return;
    if ((bucket['docs'] as Record<string, string> | undefined)?.[kind] === revision) return;
    // It may have been replaced and removed since the scan read it.
    if ((await this.#deps.table.get(key)) === undefined) return;
    await this.#findings.note('orphan-document', `bucket ${name}`, `${kind}, revision ${revision}`, async () => {
      const { outcome } = await this.#deps.table.write(
        [{ key, delete: true, expect: { is: 'present' } }],
        [{ key: itemKey.bucket(name), expect: asRead(bucket) }],
      );
      return outcome === 'written';
    });
  }

  /**
   * Checks an item of a bucket that was written at `time`.
   * @returns whether the bucket is lost
   */
  async remains(bucketId: string, time: number): Promise<boolean> {
    if (!this.#standing.isLost(bucketId) || this.#findings.isYoung(time)) return false;
    await this.#note(bucketId);
    return true;
  }

  /** Checks an item of a bucket that has no time, such as a counter. */
  timeless(bucketId: string): void {
    if (this.#standing.isLost(bucketId)) this.#uncertain.add(bucketId);
  }

  /**
   * Reports the lost buckets of which only items without a time were found, unless they were created during the scrub.
   */
  async end(standing: StandingBuckets): Promise<void> {
    for (const bucketId of this.#uncertain) if (standing.isLost(bucketId)) await this.#note(bucketId);
  }

  /** Checks a deleted bucket that waits for its purge. */
  async tombstone({ key }: Item): Promise<void> {
    const { time, bucketId } = keyParts.tombstone(key);
    if (this.#findings.isYoung(time + tombstoneTime)) return;
    await this.#findings.note('overdue-grave', `bucket ${bucketId}`, new Date(time).toISOString(), async () => {
      await this.#deps.bucketPurge.sweep();
      return (await this.#deps.table.get(key)) === undefined;
    });
  }

  async #note(bucketId: string): Promise<void> {
    if (this.#lost.has(bucketId)) return;
    this.#lost.add(bucketId);
    const key = itemKey.tombstone(sortableTime(this.#deps.clock.now()), bucketId);
    await this.#findings.note('lost-bucket', `bucket ${bucketId}`, 'some of its items remain', () =>
      this.#write(key, { name: '', project: '' }, { is: 'absent' }),
    );
  }

  async #write(
    key: Item['key'],
    put: Attributes,
    expect: Expectation,
    conditions: readonly Condition[] = [],
  ): Promise<boolean> {
    const { outcome } = await this.#deps.table.write([{ key, put, expect }], conditions);
    return outcome === 'written';
  }

  #token(): string {
    return writeToken(this.#deps.randomness);
  }
}
