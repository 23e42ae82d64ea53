import { Writable } from 'node:stream';
import type { Commits } from '../../../../shared/adapters/embedded/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../../shared/adapters/embedded/small-blobs.ts';
import type { Step } from '../../../../shared/adapters/embedded/write-steps.ts';
import type { Amount } from '../../../../shared/metadata/amount.ts';
import type { KeyedMutex } from '../../../../shared/metadata/keyed-mutex.ts';
import {
  quotaExceeded,
  quotaOf,
  type LimitedBucket,
  type Quotas,
  type Reservation,
} from '../../../../shared/metadata/quotas/quotas.ts';
import type { BlobRef } from '../../../../shared/ports/blob-store.ts';
import type { Attributes, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';
import { RateExceeded, type Rates } from '../../../../shared/protocol/rate-limit.ts';
import { outcomeOfMessage, stepsMessage } from './commit-messages.ts';
import type { Link } from './link.ts';

/*
 * The adapters by which a worker uses services of the primary, behind the same ports as in one process.
 */

/** Commits through the primary. */
export class LinkedCommits implements Commits {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  async commit(steps: readonly Step[], changes: number): Promise<WriteOutcome> {
    return outcomeOfMessage(await this.#link.request('commit', stepsMessage(steps, changes)));
  }
}

/** Bytes of small blobs sent before the worker waits for the primary to catch up. */
const maxAhead = 4 * 1024 * 1024;

/** Sends small blobs to the primary, which adds them to a transaction. A commit that refers to one is sent after it. */
export class LinkedSmallBlobs implements SmallBlobWrites {
  readonly #link: Link;
  #ahead = 0;

  constructor(link: Link) {
    this.#link = link;
  }

  async accept(ref: BlobRef, value: Buffer): Promise<void> {
    this.#ahead += value.length;
    if (this.#ahead <= maxAhead) {
      this.#link.notify('blob', { ref }, value);
      return;
    }
    this.#ahead = 0;
    await this.#link.request('blob', { ref }, value);
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    if (refs.length > 0) await this.#link.request('remove blobs', { refs });
  }

  abandon(refs: readonly BlobRef[]): void {
    if (refs.length > 0) this.#link.notify('abandon blobs', { refs });
  }
}

/** The keyed mutex of the primary, shared by all processes. */
export class LinkedMutex implements Pick<KeyedMutex, 'run'> {
  readonly #link: Link;
  #lastLock = 0;

  constructor(link: Link) {
    this.#link = link;
  }

  async run<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    const lock = (this.#lastLock += 1);
    await this.#link.request('lock', { name, lock });
    try {
      return await action();
    } finally {
      this.#link.notify('unlock', { lock });
    }
  }
}

/** The exact quotas of the primary. */
export class LinkedQuotas implements Quotas {
  readonly #link: Link;
  readonly #defaults: Amount;
  #lastReservation = 0;

  /** @param defaults the quota of buckets without one */
  constructor(link: Link, defaults: Amount) {
    this.#link = link;
    this.#defaults = defaults;
  }

  async reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation> {
    const { id, name, quota } = bucket;
    const reservation = (this.#lastReservation += 1);
    const facts = { reservation, id, name, ...(quota && { quota: numbersOf(quota) }) };
    const { bytes, objects } = quotaOf(bucket, this.#defaults);
    const isLimited = Math.min(bytes, objects) < Infinity;
    const add = async (amount: Amount): Promise<void> => {
      const body = { ...facts, growth: { ...amount } };
      if (!isLimited) {
        // It counts once there is a quota, but cannot be refused.
        this.#link.notify('reserve', body);
        return;
      }
      if ((await this.#link.request('reserve', body))['granted'] !== true) throw quotaExceeded(bucket);
    };
    await add(growth);
    return { add, release: () => this.#link.notify('release', { reservation }) };
  }
}

/** The request rates of the primary. */
export class LinkedRates implements Rates {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  async admit(party: string): Promise<void> {
    if ((await this.#link.request('admit', { party }))['admitted'] !== true) throw new RateExceeded();
  }
}

/** The standard output of the primary, which keeps the lines of all processes whole. */
export function linkedOutput(link: Link): Writable & { readonly isTTY: boolean } {
  const output = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      link.notify('log', {}, chunk);
      done();
    },
  });
  return Object.assign(output, { isTTY: process.stdout.isTTY });
}

/** Returns the set fields of a quota. */
function numbersOf({ bytes, objects }: Partial<Amount>): Attributes {
  return { ...(bytes !== undefined && { bytes }), ...(objects !== undefined && { objects }) };
}
