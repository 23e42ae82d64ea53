import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { second } from '../../ports/durations.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { uploadIndexPartition } from '../table/keys/upload-keys.ts';

const pageSize = 1000;
const maxKnown = 10_000;
/** The time in milliseconds during which a full bucket is not counted again. */
const recount = second;

/** What is known of a bucket. */
interface Known {
  /** The uploads that may still be opened before they are counted again. */
  left: number;
  readonly at: number;
}

/**
 * Limits the open uploads of a bucket. They are counted once for many: half of what is left may be opened without counting again, so that
 * another process, which knows nothing of these, is still within the limit.
 */
export class OpenUploadsLimit {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(deps: { table: KeyValueTable; clock: Clock }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
  }

  /** @throws S3Error QuotaExceeded if a bucket has as many */
  async admit(bucketId: string, most: number): Promise<void> {
    if (most === Infinity) return;
    let known = this.#known.get(bucketId);
    const isFull = known?.left === 0 && this.#clock.now() - known.at < recount;
    if (known === undefined || (known.left === 0 && !isFull)) {
      const left = Math.ceil((most - (await this.#count(bucketId, most))) / 2);
      if (this.#known.size >= maxKnown) this.#known.clear();
      known = { left, at: this.#clock.now() };
      this.#known.set(bucketId, known);
    }
    if (known.left === 0) {
      throw new S3Error('QuotaExceeded', {
        message: `A bucket may have ${most} open uploads: complete or abort some.`,
      });
    }
    known.left -= 1;
  }

  /** Counts the open uploads of a bucket, up to `most`. */
  async #count(bucketId: string, most: number): Promise<number> {
    let count = 0;
    for (let after: string | undefined, more = true; more && count < most;) {
      const page = await this.#table.query(uploadIndexPartition(bucketId), {
        limit: Math.min(pageSize, most - count),
        ...(after !== undefined && { after }),
      });
      count += page.items.length;
      after = page.items.at(-1)?.key.sk;
      ({ more } = page);
    }
    return count;
  }
}
