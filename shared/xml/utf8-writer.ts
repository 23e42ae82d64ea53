import { escapeXml, timestamp } from '../documents/text.ts';
import { day } from '../ports/durations.ts';

const digits = Buffer.from('0123456789abcdef');
const timeOfDay = Buffer.from('00:00:00.000Z');
const zero = digits[0]!;

/**
 * Tells of every byte of UTF-8 whether {@link escapeXml} leaves the characters that contain it unchanged. 0xEF begins U+FFFE and
 * U+FFFF, among others.
 */
const unescaped = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0xef || '&<>"'.includes(String.fromCharCode(byte)) ? 0 : 1,
);

/** Writes names that the client wants encoded: see http/url-encoding. */
export interface NameEncoding {
  /** The value of `EncodingType`. */
  readonly type: string;
  /** Tells of every byte of UTF-8 whether {@link encode} leaves it unchanged. */
  readonly unchanged: Uint8Array;
  encode(name: string): string;
}

/**
 * Writes XML as UTF-8, byte by byte. Documents of a thousand rows are written without a string for each value, which would take most of
 * the time; all others are written by `writer.ts`.
 */
export class Utf8Writer {
  #bytes: Buffer;
  #size = 0;
  /** The day of the last time written: its begin in milliseconds, and its date up to `T`. */
  #midnight = NaN;
  #date: Uint8Array = Buffer.alloc(0);

  /** @param room the bytes to allocate at first; more are allocated as needed */
  constructor(room = 4096) {
    this.#bytes = Buffer.allocUnsafe(room);
  }

  /** The number of bytes written. */
  get size(): number {
    return this.#size;
  }

  /** Returns what was written, without copying it: nothing may be written afterwards. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** Removes all but the first `size` bytes. */
  cut(size: number): void {
    this.#size = Math.min(this.#size, size);
  }

  /** Writes XML that is already written. */
  raw(xml: Uint8Array): this {
    this.#reserve(xml.length);
    this.#bytes.set(xml, this.#size);
    this.#size += xml.length;
    return this;
  }

  /** Writes a text, escaped. */
  text(text: string): this {
    return this.#string(escapeXml(text));
  }

  /** Writes the name in these bytes, encoded if the client wants that, and escaped. */
  name(bytes: Uint8Array, start: number, end: number, encoding: NameEncoding | undefined): this {
    this.#reserve(end - start);
    const target = this.#bytes;
    const unchanged = encoding?.unchanged ?? unescaped;
    const offset = this.#size - start;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at]!;
      if (unchanged[byte] === 0) {
        const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
        return this.text(encoding === undefined ? name : encoding.encode(name));
      }
      target[offset + at] = byte;
    }
    this.#size = offset + end;
    return this;
  }

  /** Writes a number in decimal. */
  integer(value: number): this {
    if (!(value >= 0 && value <= 0x7fffffff && value % 1 === 0)) return this.#string(String(value));
    this.#reserve(10);
    let length = 1;
    for (let rest = value; rest > 9; rest = (rest / 10) | 0) length += 1;
    let rest = value;
    for (let at = this.#size + length - 1; at >= this.#size; at -= 1) {
      this.#bytes[at] = zero + (rest % 10);
      rest = (rest / 10) | 0;
    }
    this.#size += length;
    return this;
  }

  /** Writes the first `size` bytes in hexadecimal. */
  hex(bytes: Uint8Array, size: number): this {
    this.#reserve(2 * size);
    const target = this.#bytes;
    let position = this.#size;
    for (let at = 0; at < size; at += 1) {
      const byte = bytes[at]!;
      target[position] = digits[byte >> 4]!;
      target[position + 1] = digits[byte & 15]!;
      position += 2;
    }
    this.#size = position;
    return this;
  }

  /** Writes a time as {@link timestamp} does. */
  time(milliseconds: number): this {
    const sinceMidnight = milliseconds - this.#midnight;
    if (!(sinceMidnight >= 0 && sinceMidnight < day)) {
      this.#midnight = Math.floor(milliseconds / day) * day;
      this.#date = Buffer.from(timestamp(this.#midnight).slice(0, -timeOfDay.length));
      return this.time(milliseconds);
    }
    this.raw(this.#date).raw(timeOfDay);
    const bytes = this.#bytes;
    const end = this.#size;
    // Integers of 32 bits, which are faster to divide.
    let rest = sinceMidnight | 0;
    bytes[end - 2] = zero + (rest % 10);
    rest = (rest / 10) | 0;
    twoDigits(bytes, end - 4, rest % 100);
    rest = (rest / 100) | 0;
    twoDigits(bytes, end - 7, rest % 60);
    rest = (rest / 60) | 0;
    twoDigits(bytes, end - 10, rest % 60);
    twoDigits(bytes, end - 13, (rest / 60) | 0);
    return this;
  }

  #string(text: string): this {
    this.#reserve(3 * text.length);
    this.#size += this.#bytes.write(text, this.#size);
    return this;
  }

  #reserve(room: number): void {
    if (this.#size + room <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#size + room));
    this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
  }
}

function twoDigits(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = zero + ((value / 10) | 0);
  bytes[at + 1] = zero + (value % 10);
}
