import type { ItemView } from '../../ports/item-view.ts';
import { ItemDamaged, type Attribute, type Attributes, type Item, type ItemKey } from '../../ports/key-value-table.ts';

const noBytes = new Uint8Array();

/** Shows items that a query returned as {@link ItemView}, one after the other. */
export class AttributesView implements ItemView {
  keyBytes: Uint8Array = noBytes;
  readonly keyStart = 0;
  keyEnd = 0;
  readonly #columns: readonly string[];
  #key: ItemKey = { pk: '', sk: '' };
  #attributes: Attributes = {};

  /** @param columns the names of the attributes to read */
  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  show({ key, attributes }: Item): this {
    this.#key = key;
    this.#attributes = attributes;
    this.keyBytes = Buffer.from(key.sk);
    this.keyEnd = this.keyBytes.length;
    return this;
  }

  sortKey(): string {
    return this.#key.sk;
  }

  number(column: number): number | undefined {
    const value = this.#value(column);
    if (value === undefined || typeof value === 'number') return value;
    throw this.#damaged(column, 'not a number');
  }

  copy(column: number, target: Uint8Array): number {
    const value = this.#value(column);
    if (value === undefined) return -1;
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    if (!(bytes instanceof Uint8Array)) throw this.#damaged(column, 'neither text nor bytes');
    target.set(bytes.subarray(0, target.length));
    return bytes.length;
  }

  isText(column: number): boolean {
    return typeof this.#value(column) === 'string';
  }

  #value(column: number): Attribute | undefined {
    return this.#attributes[this.#columns[column]!];
  }

  #damaged(column: number, what: string): ItemDamaged {
    return new ItemDamaged(`its ${this.#columns[column]!} is ${what}`, this.#key);
  }
}
