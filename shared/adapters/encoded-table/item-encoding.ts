import { ItemDamaged, type Attribute, type Attributes } from '../../ports/key-value-table.ts';

/**
 * The format of stored items.
 *
 *     item    count, then for each attribute: name, value
 *     name    size, UTF-8 bytes
 *     value   a tag, then its content:
 *             0 false   1 true   2 integer n ≥ 0   3 integer −1 − n   4 double, 8 bytes, big-endian
 *             5 text: size, UTF-8 bytes      6 bytes: size, bytes
 *             7 set: count, names            8 list: count, values          9 map: as an item
 *             128 + size: text of up to 127 bytes
 *
 * Counts, sizes and integers are in base 128, least significant digit first, with the high bit set on all digits but
 * the last.
 */
export const tag = {
  false: 0,
  true: 1,
  natural: 2,
  negative: 3,
  double: 4,
  text: 5,
  bytes: 6,
  set: 7,
  list: 8,
  map: 9,
  short: 128,
} as const;

const maxShortLength = 127;
/** The number of bytes above which a built-in function is faster than a loop. */
const loopLimit = 24;

/** Writes values in sequence. */
export class Encoder {
  #buffer = Buffer.allocUnsafeSlow(4096);
  #size = 0;

  /** Discards what was written, so that one encoder and its buffer can be reused. */
  begin(): this {
    this.#size = 0;
    return this;
  }

  item(attributes: Attributes): this {
    const names = Object.keys(attributes);
    this.#number(names.length);
    for (const name of names) {
      this.text(name);
      this.#value(attributes[name]!);
    }
    return this;
  }

  text(text: string): this {
    const size = Buffer.byteLength(text);
    this.#number(size);
    this.#text(text, size);
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#size);
    this.#size += bytes.length;
    return this;
  }

  byte(value: number): this {
    this.#reserve(1);
    this.#buffer[this.#size++] = value;
    return this;
  }

  /** Returns a copy of the bytes written. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#size));
  }

  #value(value: Attribute): void {
    if (typeof value === 'string') this.#tagged(value);
    else if (typeof value === 'number') this.#numeric(value);
    else if (typeof value === 'boolean') this.byte(value ? tag.true : tag.false);
    else if (value instanceof Uint8Array) {
      this.byte(tag.bytes).#number(value.length);
      this.raw(value);
    } else if (value instanceof Set) {
      this.byte(tag.set).#number(value.size);
      for (const member of value as ReadonlySet<string>) this.text(member);
    } else if (isList(value)) {
      this.byte(tag.list).#number(value.length);
      for (const member of value) this.#value(member);
    } else if (typeof value === 'object' && value !== null) {
      this.byte(tag.map).item(value as Attributes);
    } else throw new TypeError(`an attribute cannot hold ${typeof value}`);
  }

  #tagged(text: string): void {
    const size = Buffer.byteLength(text);
    if (size <= maxShortLength) this.byte(tag.short + size);
    else this.byte(tag.text).#number(size);
    this.#text(text, size);
  }

  #numeric(value: number): void {
    if (!Number.isSafeInteger(value)) {
      this.byte(tag.double).#reserve(8);
      this.#size = this.#buffer.writeDoubleBE(value, this.#size);
    } else if (value < 0) this.byte(tag.negative).#number(-1 - value);
    else this.byte(tag.natural).#number(value);
  }

  #text(text: string, size: number): void {
    this.#reserve(size);
    if (size === text.length && size <= loopLimit) {
      for (let index = 0; index < size; index += 1) this.#buffer[this.#size + index] = text.charCodeAt(index);
    } else this.#buffer.write(text, this.#size);
    this.#size += size;
  }

  #number(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest > 127) {
      this.#buffer[this.#size++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.#size++] = rest;
  }

  #reserve(room: number): void {
    if (this.#size + room <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#size + room));
    this.#buffer.copy(grown, 0, 0, this.#size);
    this.#buffer = grown;
  }
}

/**
 * Reads the output of {@link Encoder}. Returns copies only, since the engine overwrites its buffers.
 * All methods throw ItemDamaged where the bytes cannot be its output.
 */
export class Decoder {
  readonly #buffer: Buffer;
  readonly #size: number;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#size = bytes.length;
    this.#buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** @param wanted the attributes to read; others are skipped. Default: all */
  item(wanted?: ReadonlySet<string>): Attributes {
    const attributes: Record<string, Attribute> = {};
    for (let left = this.#number(); left > 0; left -= 1) {
      const name = this.text();
      if (wanted?.has(name) === false) {
        this.#pass();
        continue;
      }
      const value = this.#value();
      // Assigning to this name would set the prototype instead.
      if (name === '__proto__')
        Object.defineProperty(attributes, name, { value, enumerable: true, configurable: true, writable: true });
      else attributes[name] = value;
    }
    return attributes;
  }

  text(): string {
    return this.#text(this.#number());
  }

  byte(): number {
    return this.#buffer[this.#take(1)]!;
  }

  /** Checks that nothing is left. */
  end(): void {
    if (this.#position !== this.#size) throw new ItemDamaged(`${this.#size - this.#position} bytes are left over`);
  }

  /** Passes over bytes and returns where they begin. */
  #take(size: number): number {
    const start = this.#position;
    if (start + size > this.#size) throw new ItemDamaged('it ends too soon');
    this.#position = start + size;
    return start;
  }

  #value(): Attribute {
    return this.#content(this.byte());
  }

  #content(kind: number): Attribute {
    if (kind >= tag.short) return this.#text(kind - tag.short);
    switch (kind) {
      case tag.false:
        return false;
      case tag.true:
        return true;
      case tag.natural:
        return this.#number();
      case tag.negative:
        return -1 - this.#number();
      case tag.double:
        return this.#buffer.readDoubleBE(this.#take(8));
      case tag.text:
        return this.#text(this.#number());
      case tag.bytes:
        return this.#bytes(this.#number());
      case tag.set:
        return new Set(Array.from({ length: this.#count() }, () => this.text()));
      case tag.list:
        return Array.from({ length: this.#count() }, () => this.#value());
      case tag.map:
        return this.item();
      default:
        throw new ItemDamaged(`it has a value of unknown kind ${kind}`);
    }
  }

  /** Skips a value. Short values, which are most of them, are skipped unread; nested ones are read and dropped. */
  #pass(): void {
    const kind = this.byte();
    if (kind >= tag.short) this.#take(kind - tag.short);
    else if (kind === tag.text || kind === tag.bytes) this.#take(this.#number());
    else this.#content(kind);
  }

  #bytes(size: number): Uint8Array {
    const start = this.#take(size);
    const bytes = new Uint8Array(size);
    if (size > loopLimit) bytes.set(this.#buffer.subarray(start, start + size));
    else for (let index = 0; index < size; index += 1) bytes[index] = this.#buffer[start + index]!;
    return bytes;
  }

  #text(size: number): string {
    const start = this.#take(size);
    if (size > loopLimit) return this.#buffer.toString('utf8', start, start + size);
    let text = '';
    for (let index = start; index < start + size; index += 1) {
      const byte = this.#buffer[index]!;
      if (byte > 127) return this.#buffer.toString('utf8', start, start + size);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Reads the number of elements, of which each has at least one byte. */
  #count(): number {
    const count = this.#number();
    if (count > this.#size - this.#position) throw new ItemDamaged('it ends too soon');
    return count;
  }

  #number(): number {
    let value = 0;
    for (let weight = 1; ; weight *= 128) {
      const byte = this.byte();
      if (byte < 128) return value + byte * weight;
      value += (byte - 128) * weight;
    }
  }
}

const encoder = new Encoder();

/** Encodes an item. @throws TypeError if it contains a value that is not an attribute */
export function encodeItem(attributes: Attributes): Buffer {
  return encoder.begin().item(attributes).bytes();
}

/**
 * Decodes an item.
 * @param wanted the attributes to read; others are omitted. Default: all
 * @throws ItemDamaged
 */
export function decodeItem(bytes: Uint8Array, wanted?: ReadonlySet<string>): Attributes {
  const decoder = new Decoder(bytes);
  const item = decoder.item(wanted);
  decoder.end();
  return item;
}

function isList(value: Attribute): value is readonly Attribute[] {
  return Array.isArray(value);
}
