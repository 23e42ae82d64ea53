import type { Attribute, Attributes } from '../../ports/key-value-table.ts';

/** An item under construction. */
export type NewItem = Record<string, Attribute>;

/** How a value is kept in an item. */
export interface Codec<Value> {
  /** The names of the item's attributes that `write` may add. No two codecs of an item share one. */
  readonly stored: readonly string[];
  /** Other names that both look at: `write` finds them added by the codecs before it. */
  readonly alsoReads?: readonly string[];
  /** Adds the value to an item; adds nothing for the value that `read` returns if there is nothing. */
  write(item: NewItem, value: Value): void;
  read(item: Attributes): Value;
}

/** A codec of any value. */
export type AttributeCodec = Omit<Codec<never>, 'read'> & { read(item: Attributes): unknown };

/** A codec for a value that is written unchanged, and always. */
export function text(name: string): Codec<string> {
  return {
    stored: [name],
    write: (item, value) => {
      item[name] = value;
    },
    read: (item) => item[name] as string,
  };
}

/** A codec for a value that is written unchanged, or left out if undefined. */
export function optional<Value extends Attribute>(name: string): Codec<Value | undefined> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value !== undefined) item[name] = value;
    },
    read: (item) => item[name] as Value | undefined,
  };
}

/** A codec for an optional value that is written in another form. `encode` returns undefined for what need not be written. */
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

/** A codec for true, written as 1, and false, left out. */
export function flag(name: string): Codec<boolean> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value) item[name] = 1;
    },
    read: (item) => item[name] === 1,
  };
}

/** A codec for a number, left out if 0. */
export function count(name: string): Codec<number> {
  return {
    stored: [name],
    write: (item, value) => {
      if (value > 0) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? 0,
  };
}

/** The codec of an item, or of a part of one: a codec for each of its fields. */
export class ItemCodec<Fields extends object> {
  readonly #names: readonly string[];
  readonly #codecs: readonly AttributeCodec[];

  /** @param codecs by the names of their fields, in the order in which they write */
  constructor(codecs: Readonly<Record<keyof Fields & string, AttributeCodec>>) {
    this.#names = Object.keys(codecs);
    this.#codecs = Object.values(codecs);
  }

  /** The names of the item's attributes that {@link read} looks at. */
  get attributes(): ReadonlySet<string> {
    return new Set(this.#codecs.flatMap(({ stored, alsoReads = [] }) => [...stored, ...alsoReads]));
  }

  /** Adds the fields of a value to an item. */
  write(item: NewItem, value: Fields): void {
    const values = value as Readonly<Record<string, never>>;
    for (let at = 0; at < this.#names.length; at += 1) this.#codecs[at]!.write(item, values[this.#names[at]!]!);
  }

  /** Returns the fields of an item. A plain loop: a listing reads a thousand items. */
  read(item: Attributes): Fields {
    const fields: Record<string, unknown> = {};
    for (let at = 0; at < this.#names.length; at += 1) fields[this.#names[at]!] = this.#codecs[at]!.read(item);
    return fields as Fields;
  }
}
