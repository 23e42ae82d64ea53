import { fits, minus, nothing, plus, type Amount } from '../amount.ts';
import { quotaExceeded, quotaOf, type LimitedBucket, type Quotas, type Reservation } from './quotas.ts';

/** What is known of a bucket. `begun` and `ended` sum up all writes of this process. */
interface Ledger {
  /** It holds no more than this, even once everything that has begun is done; undefined: it was never measured. */
  most: Amount | undefined;
  begun: Amount;
  ended: Amount;
}

/** A bucket is measured so often while other writes end meanwhile. */
const maxAttempts = 8;
const maxLedgers = 10_000;

/**
 * Quotas without overshoot, where one process makes all writes. It adds up what may come at most, which costs nothing; only a
 * write that this sum has no room for waits until the bucket has been measured, since what was deleted or refused is in the sum.
 */
export class ExactQuotas implements Quotas {
  readonly #measure: (bucketId: string) => Promise<Amount>;
  readonly #defaults: Amount;
  readonly #ledgers = new Map<string, Ledger>();

  /** @param measure what a bucket holds: at least everything that was committed when it was asked for */
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
      // What had not ended before may be in the measure or not: it counts once more.
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

  /** Forgets buckets that nothing is being written to. */
  #forgetIdle(): void {
    for (const [id, { begun, ended }] of this.#ledgers) {
      if (begun.bytes === ended.bytes && begun.objects === ended.objects) this.#ledgers.delete(id);
    }
  }
}
