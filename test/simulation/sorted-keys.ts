import { compareUtf8 } from '../../shared/ports/utf8-order.ts';

/** Values under keys that are in the order of their UTF-8 bytes. */
export class SortedKeys<Value> {
  static readonly compare = compareUtf8;
  readonly #values: Map<string, Value>;
  /** Undefined: sorted on demand. */
  #keys: readonly string[] | undefined;

  constructor(values: Iterable<readonly [string, Value]> = []) {
    this.#values = new Map(values);
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#keys = undefined;
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys = undefined;
  }

  /** Returns a new array of the keys, in order. */
  keys(): string[] {
    this.#keys ??= [...this.#values.keys()].sort(compareUtf8);
    return [...this.#keys];
  }

  copy(): SortedKeys<Value> {
    return new SortedKeys(this.#values);
  }
}
