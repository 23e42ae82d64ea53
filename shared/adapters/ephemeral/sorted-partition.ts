import { compareUtf8 } from '../../ports/utf8-order.ts';
import type { QueryOptions } from '../../ports/key-value-table.ts';

/** An encoded item with its sort key. */
export interface Entry {
  readonly sk: string;
  readonly value: Buffer;
}

/** The encoded items of one partition, in the order of their sort keys' UTF-8 bytes. */
export class SortedPartition {
  readonly #entries: Entry[] = [];

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get(sk: string): Buffer | undefined {
    const entry = this.#entries[this.#firstAtOrAfter(sk)];
    return entry?.sk === sk ? entry.value : undefined;
  }

  put(sk: string, value: Buffer): void {
    const at = this.#firstAtOrAfter(sk);
    this.#entries.splice(at, this.#entries[at]?.sk === sk ? 1 : 0, { sk, value });
  }

  remove(sk: string): void {
    const at = this.#firstAtOrAfter(sk);
    if (this.#entries[at]?.sk === sk) this.#entries.splice(at, 1);
  }

  /**
   * Yields the items that a query asks for, in its direction. Must not be continued after the partition has changed.
   */
  *walk({ from = '', after, prefix = '', reverse = false }: Omit<QueryOptions, 'limit'>): Generator<Entry> {
    const start = this.#first(
      (sk) =>
        compareUtf8(sk, from) >= 0 &&
        compareUtf8(sk, prefix) >= 0 &&
        (reverse || after === undefined || compareUtf8(sk, after) > 0),
    );
    const end = this.#first(
      (sk) =>
        (!sk.startsWith(prefix) && compareUtf8(sk, prefix) > 0) ||
        (reverse && after !== undefined && compareUtf8(sk, after) >= 0),
    );
    if (reverse) for (let at = end - 1; at >= start; at -= 1) yield this.#entries[at]!;
    else for (let at = start; at < end; at += 1) yield this.#entries[at]!;
  }

  #firstAtOrAfter(sk: string): number {
    return this.#first((other) => compareUtf8(other, sk) >= 0);
  }

  /** Returns the index of the first sort key for which a condition holds, which must also hold for all later ones. */
  #first(holds: (sk: string) => boolean): number {
    let low = 0;
    for (let high = this.#entries.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (holds(this.#entries[middle]!.sk)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
