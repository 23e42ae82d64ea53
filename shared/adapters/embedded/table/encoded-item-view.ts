import type { ItemView } from '../../../ports/item-view.ts';
import { ItemDamaged } from '../../../ports/key-value-table.ts';
import { tag } from '../../encoded-table/item-encoding.ts';
import { sortKeyOffset } from '../../encoded-table/item-key.ts';
import { startOfItem } from './sealed-item.ts';

const noBytes = Buffer.alloc(0);

/**
 * Reads a few attributes of one encoded item after the other, without creating an object for each. Finds damage that
 * decoding the whole item would find, except within lists and maps that it skips.
 */
export class EncodedItemView implements ItemView {
  keyBytes: Buffer = noBytes;
  keyStart = 0;
  keyEnd = 0;
  readonly #pk: string;
  /** The offset of the sort key in an encoded key. */
  readonly #keyOffset: number;
  readonly #columns: readonly string[];
  /** Their names as UTF-8. */
  readonly #names: readonly Buffer[];
  /** The columns of names of one byte, by this byte, plus one. */
  readonly #short = new Uint8Array(256);
  /** The offset of the value of each column in the item; 0 if it has none. */
  readonly #offsets: Int32Array;
  #keyFrom = 0;
  #bytes: Uint8Array = noBytes;
  #size = 0;
  #found = true;
  #at = 0;

  /**
   * @param pk the partition of the items
   * @param columns the names of the attributes to read
   */
  constructor(pk: string, columns: readonly string[]) {
    this.#pk = pk;
    this.#keyOffset = sortKeyOffset(pk);
    this.#columns = columns;
    this.#names = columns.map((name) => Buffer.from(name));
    this.#offsets = new Int32Array(columns.length);
    this.#names.forEach((name, column) => {
      if (name.length === 1) this.#short[name[0]!] = column + 1;
    });
  }

  /** Sets the encoded key of the item to be shown next. */
  setKey(bytes: Buffer, start: number, end: number): void {
    this.keyBytes = bytes;
    this.#keyFrom = start;
    this.keyStart = start + this.#keyOffset;
    this.keyEnd = end;
  }

  /** Sets the stored item to be shown next: the first `size` bytes. They must not change while it is shown. */
  setValue(bytes: Uint8Array, size: number): void {
    this.#bytes = bytes;
    this.#size = size;
    this.#found = false;
  }

  /** Returns a copy of the key of the item that is shown, as stored. */
  encodedKey(): Buffer {
    return Buffer.from(this.keyBytes.subarray(this.#keyFrom, this.keyEnd));
  }

  /** Verifies the item that is shown, unless it was read. @throws ItemDamaged */
  verify(): void {
    if (!this.#found) this.#start();
  }

  sortKey(): string {
    return this.keyBytes.toString('utf8', this.keyStart, this.keyEnd);
  }

  number(column: number): number | undefined {
    const offset = this.#offset(column);
    if (offset === 0) return undefined;
    const kind = this.#bytes[offset];
    this.#at = offset + 1;
    if (kind === tag.natural) return this.#natural();
    if (kind === tag.negative) return -1 - this.#natural();
    if (kind !== tag.double) throw this.#damaged(`its ${this.#columns[column]!} is not a number`);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getFloat64(this.#at);
  }

  copy(column: number, target: Uint8Array): number {
    const offset = this.#offset(column);
    if (offset === 0) return -1;
    const kind = this.#bytes[offset]!;
    this.#at = offset + 1;
    let size = kind - tag.short;
    if (kind === tag.text || kind === tag.bytes) size = this.#natural();
    else if (kind < tag.short) throw this.#damaged(`its ${this.#columns[column]!} is neither text nor bytes`);
    const copied = Math.min(size, target.length);
    const start = this.#at;
    for (let at = 0; at < copied; at += 1) target[at] = this.#bytes[start + at]!;
    return size;
  }

  isText(column: number): boolean {
    const offset = this.#offset(column);
    return offset > 0 && (this.#bytes[offset]! >= tag.short || this.#bytes[offset] === tag.text);
  }

  #offset(column: number): number {
    if (!this.#found) this.#find();
    return this.#offsets[column]!;
  }

  /** Finds the attributes of the columns, and checks that the item is the one that was written, and ends where it should. */
  #find(): void {
    this.#offsets.fill(0);
    this.#at = this.#start();
    for (let left = this.#natural(); left > 0; left -= 1) {
      const size = this.#natural();
      const column = size === 1 ? this.#short[this.#bytes[this.#at]!]! - 1 : this.#columnOf(size);
      this.#at += size;
      if (column >= 0) this.#offsets[column] = this.#at;
      this.#skip();
      if (this.#at > this.#size) throw this.#damaged('it ends too soon');
    }
    if (this.#at !== this.#size) throw this.#damaged(`${this.#size - this.#at} bytes are left over`);
    this.#found = true;
  }

  #start(): number {
    const key = { bytes: this.keyBytes, start: this.#keyFrom, end: this.keyEnd };
    try {
      return startOfItem(key, this.#bytes, this.#size);
    } catch (error) {
      throw error instanceof ItemDamaged ? error.of({ pk: this.#pk, sk: this.sortKey() }) : error;
    }
  }

  /** Returns the column of the name of this size at the position, or −1. */
  #columnOf(size: number): number {
    for (let column = 0; column < this.#names.length; column += 1) {
      const name = this.#names[column]!;
      if (name.length !== size) continue;
      let at = 0;
      while (at < size && this.#bytes[this.#at + at] === name[at]) at += 1;
      if (at === size) return column;
    }
    return -1;
  }

  /** Moves past a value. */
  #skip(): void {
    const kind = this.#bytes[this.#at]!;
    this.#at += 1;
    if (kind >= tag.short) {
      this.#at += kind - tag.short;
      return;
    }
    switch (kind) {
      case tag.false:
      case tag.true:
        return;
      case tag.natural:
      case tag.negative:
        this.#natural();
        return;
      case tag.double:
        this.#at += 8;
        return;
      case tag.text:
      case tag.bytes:
        this.#skipSized();
        return;
      case tag.set:
        this.#each(() => this.#skipSized());
        return;
      case tag.list:
        this.#each(() => this.#skip());
        return;
      case tag.map:
        this.#each(() => {
          this.#skipSized();
          this.#skip();
        });
        return;
      default:
        throw this.#damaged(`it has a value of unknown kind ${kind}`);
    }
  }

  /** Moves past a size and as many bytes. */
  #skipSized(): void {
    const size = this.#natural();
    this.#at += size;
  }

  #each(skip: () => void): void {
    for (let left = this.#natural(); left > 0; left -= 1) {
      if (this.#at >= this.#size) throw this.#damaged('it ends too soon');
      skip();
    }
  }

  /** Reads a count, a size or an integer. */
  #natural(): number {
    let value = 0;
    for (let weight = 1; ; weight *= 128) {
      if (this.#at >= this.#size) throw this.#damaged('it ends too soon');
      const byte = this.#bytes[this.#at]!;
      this.#at += 1;
      if (byte < 128) return value + byte * weight;
      value += (byte - 128) * weight;
    }
  }

  #damaged(damage: string): ItemDamaged {
    return new ItemDamaged(damage, { pk: this.#pk, sk: this.sortKey() });
  }
}
