import type { Condition, Item } from '../ports/key-value-table.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { followedPrefixes, itemKey } from '../storage/table/keys/keys.ts';
import {
  baseShard,
  counterNames,
  decodeCounters,
  differenceOfCounters,
  encodeCounters,
  noCounters,
  sumOfCounters,
  sumOfRows,
  usageRows,
  type Counters,
} from '../storage/quotas/usage-rows.ts';
import { heldBy } from '../storage/quotas/held.ts';
import type { Findings } from './findings.ts';
import type { ScrubDeps } from './deps.ts';
import type { StandingBuckets } from './standing-buckets.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

const described: Readonly<Record<keyof Counters, string>> = {
  objects: 'objects',
  bytesOfVersions: 'bytes of versions',
  bytesBesides: 'bytes besides',
};

/** The tokens of a bucket's counters at the start, and the counts since. */
interface Tally {
  readonly tokens: string;
  counts: Counters;
}

/**
 * Counts the contents of buckets and compares them with their counters. Only buckets that did not change from start to
 * end are compared.
 */
export class UsageScrub {
  readonly #deps: ScrubDeps;
  readonly #findings: Findings;

  constructor(deps: ScrubDeps, findings: Findings) {
    this.#deps = deps;
    this.#findings = findings;
  }

  /**
   * Counts all buckets.
   * @param drain waits until the followers have counted every earlier change
   * @param exempt the ids of buckets to leave out
   */
  async recount(standing: StandingBuckets, drain: () => Promise<void>, exempt: ReadonlySet<string>): Promise<void> {
    await drain();
    const tallies = new Map<string, Tally>();
    for (const bucketId of standing.ids()) {
      if (exempt.has(bucketId)) this.#findings.leaveOut('counters of buckets with broken version chains');
      else tallies.set(bucketId, { tokens: tokensOf(await this.#rows(bucketId)), counts: noCounters });
    }
    let isComplete = true;
    const onDamaged = (): void => void (isComplete = false);
    const { table } = this.#deps;
    for await (const item of table.scan({ prefixes: followedPrefixes.usage, onDamaged })) count(tallies, item);
    if (!isComplete) return this.#findings.leaveOut('counters of buckets, because an item could not be read');
    await drain();
    for (const [bucketId, { tokens, counts }] of tallies) {
      const rows = await this.#rows(bucketId);
      if (tokensOf(rows) !== tokens) this.#findings.leaveOut('counters of buckets that changed during the scrub');
      else await this.#compare(bucketId, standing.nameOf(bucketId)!, rows, counts);
    }
  }

  async #compare(bucketId: string, name: string, rows: readonly Item[], counts: Counters): Promise<void> {
    const said = sumOfRows(rows);
    const wrong = counterNames.filter((counter) => said[counter] !== counts[counter]);
    if (wrong.length === 0) return;
    // The counters of a bucket removed in the meantime will be purged; until then the removal still changes them.
    const bucket = await this.#deps.table.get(itemKey.bucket(name));
    if (bucket?.['id'] !== bucketId) return;
    const what = wrong
      .map((counter) => `${said[counter]} ${described[counter]} instead of ${counts[counter]}`)
      .join(', ');
    await this.#findings.note('usage', `bucket ${name}`, what, async () => {
      // The repair adds the difference: it stays right, whatever followers add in the meantime and however the other
      // rows change.
      const [first] = rows;
      const before = first?.attributes ?? { upTo: '-1' };
      const right = sumOfCounters(decodeCounters(first?.attributes), differenceOfCounters(counts, said));
      const put = { ...before, ...encodeCounters(right), r: writeToken(this.#deps.randomness) };
      const { outcome } = await this.#deps.table.write([
        { key: itemKey.usage(bucketId, baseShard), expect: { is: 'absent' }, ...(first && unchanged(first)), put },
      ]);
      return outcome === 'written';
    });
  }

  async #rows(bucketId: string): Promise<readonly Item[]> {
    return usageRows(this.#deps.table, bucketId);
  }
}

function count(tallies: ReadonlyMap<string, Tally>, { key, attributes }: Item): void {
  const held = heldBy(key, attributes);
  const tally = held && tallies.get(held.bucketId);
  if (tally) tally.counts = sumOfCounters(tally.counts, held);
}

function unchanged({ key, attributes }: Item): Condition {
  return { key, expect: asRead(attributes) };
}

function tokensOf(rows: readonly Item[]): string {
  return rows.map(({ key, attributes }) => `${key.sk} ${attributes['r'] as string}`).join('\n');
}
