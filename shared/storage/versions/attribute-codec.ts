import type { Attribute, Attributes } from '../../ports/key-value-table.ts';

/** An item under construction. */
export type NewItem = Record<string, Attribute>;

/** The encoding of a value in an item. */
export interface Codec<Value> {
  /** The names of the attributes that `write` may add to the item. No two codecs of an item share one. */
  readonly stored: readonly string[];
  /** Other attributes that both read. The codecs before this one have written them. */
  readonly alsoReads?: readonly string[];
  /** Adds the value to an item. Adds nothing for the value that `read` returns by default. */
  write(item: NewItem, value: Value): void;
  read(item: Attributes): Value;
}

/** A codec for any type of value. */
export type AttributeCodec = Omit<Codec<never>, 'read'> & { read(item: Attributes): unknown };

/** Returns a codec for a string that is always written, unchanged. */
export function text(name: string): Codec<string> {
  return {
    stored: [name],
    write: (item, value) => {
      item[name] = value;
    },
    read: (item) => item[name] as string,
  };
}

/** Returns a codec for a value that is written unchanged, or omitted if undefined. */
export function optional<Value extends Attribute>(name: string): Codec<Value | undefined> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value !== undefined) item[name] = value;
    },
    read: (item) => item[name] as Value | undefined,
  };
}

/** Returns a codec for an optional value that is written in another form. `encode` returns undefined to omit the value. */
export function encoded<Value>(
  name: string,
  encode: (value: Value) => Attribute | undefined,
  decode: (stored: Attribute | undefined) => Value | undefined,
): Codec<Value | undefined> {
  return {
    stored: [name],
    write: (item, value) => {
      const written = value === undefined ? undefined : encode(value);
      if (written !== undefined) item[name] = written;
    },
    read: (item) => decode(item[name]),
  };
}

/** Returns a codec for a boolean: true is written as 1, false is omitted. */
export function flag(name: string): Codec<boolean> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value) item[name] = 1;
    },
    read: (item) => item[name] === 1,
  };
}

/** Returns a codec for a number, omitted if 0. */
export function count(name: string): Codec<number> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value > 0) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? 0,
  };
}

/** A codec for an item or a part of one, made of a codec for each field. */
export class ItemCodec<Fields extends object> {
  readonly #names: readonly string[];
  readonly #codecs: readonly AttributeCodec[];
  /** An object with every field undefined. A copy of it need not grow, which would take most of the time. */
  readonly #blank: Readonly<Record<string, unknown>>;

  /** @param codecs by field name, in the order in which they write */
  constructor(codecs: Readonly<Record<keyof Fields & string, AttributeCodec>>) {
    this.#names = Object.keys(codecs);
    this.#codecs = Object.values(codecs);
    this.#blank = Object.fromEntries(this.#names.map((name) => [name, undefined]));
  }

  /** The names of the attributes that {@link read} needs. */
  get attributes(): ReadonlySet<string> {
    return new Set(this.#codecs.flatMap(({ stored, alsoReads = [] }) => [...stored, ...alsoReads]));
  }

  /** Adds the fields of a value to an item. */
  write(item: NewItem, value: Fields): void {
    const values = value as Readonly<Record<string, never>>;
    for (let at = 0; at < this.#names.length; at += 1) this.#codecs[at]!.write(item, values[this.#names[at]!]!);
  }

  /** Returns the fields of an item. A plain loop, because a listing reads a thousand items. */
  read(item: Attributes): Fields {
    const fields = { ...this.#blank };
    for (let at = 0; at < this.#names.length; at += 1) fields[this.#names[at]!] = this.#codecs[at]!.read(item);
    return fields as Fields;
  }
}
