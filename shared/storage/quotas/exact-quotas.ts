import { fits, minus, nothing, plus, type Amount } from '../amount.ts';
import { quotaExceeded, quotaOf, type LimitedBucket, type Quotas, type Reservation } from './quotas.ts';

/** The state of a bucket. `begun` and `ended` are sums over all writes of this process. */
interface Ledger {
  /** An upper bound of its contents once every write begun is done; undefined if it was never measured. */
  most: Amount | undefined;
  begun: Amount;
  ended: Amount;
}

/** The maximum number of measurements for one reservation, while other writes end in between. */
const maxAttempts = 8;
const maxLedgers = 10_000;

/**
 * Quotas without overshoot, for a single writing process. It keeps an upper bound of what each bucket holds, which
 * costs nothing. Deleted and refused data stay in the bound, so a write that exceeds it waits until
 * the bucket has been measured.
 */
export class ExactQuotas implements Quotas {
  readonly #measure: (bucketId: string) => Promise<Amount>;
  readonly #defaults: Amount;
  readonly #ledgers = new Map<string, Ledger>();

  /** @param measure returns what a bucket holds, including at least everything committed when it was called */
  constructor(measure: (bucketId: string) => Promise<Amount>, defaults: Amount) {
    this.#measure = measure;
    this.#defaults = defaults;
  }

  async reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation> {
    const ledger = this.#ledger(bucket.id);
    await this.#reserve(bucket, ledger, growth);
    let reserved = growth;
    return {
      add: async (more) => {
        await this.#reserve(bucket, ledger, more);
        reserved = plus(reserved, more);
      },
      release: () => {
        ledger.ended = plus(ledger.ended, reserved);
        reserved = nothing;
      },
    };
  }

  async #reserve(bucket: LimitedBucket, ledger: Ledger, growth: Amount): Promise<void> {
    const quota = quotaOf(bucket, this.#defaults);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (ledger.most && fits(plus(ledger.most, growth), quota)) {
        ledger.most = plus(ledger.most, growth);
        ledger.begun = plus(ledger.begun, growth);
        return;
      }
      const { ended } = ledger;
      const measured = await this.#measure(bucket.id);
      // A write that had not ended before may be in the measurement or not, so it counts again.
      ledger.most = plus(measured, minus(ledger.begun, ended));
      const isFull = !fits(plus(ledger.most, growth), quota);
      if (isFull && ledger.ended === ended) break;
    }
    throw quotaExceeded(bucket);
  }

  #ledger(bucketId: string): Ledger {
    const known = this.#ledgers.get(bucketId);
    if (known) return known;
    if (this.#ledgers.size >= maxLedgers) this.#forgetIdle();
    const ledger = { most: undefined, begun: nothing, ended: nothing };
    this.#ledgers.set(bucketId, ledger);
    return ledger;
  }

  /** Drops the ledgers of buckets without writes in progress. */
  #forgetIdle(): void {
    for (const [id, { begun, ended }] of this.#ledgers) {
      if (begun.bytes === ended.bytes && begun.objects === ended.objects) this.#ledgers.delete(id);
    }
  }
}
