import type { Attribute, Attributes } from '../../ports/key-value-table.ts';

/** An item, or a part of one, that is malformed. The request fails with a 500; the message goes to the log. */
export class DamagedItem extends Error {
  constructor(place: string, expected: string) {
    super(`an item is damaged: ${place} is not a ${expected}`);
    this.name = 'DamagedItem';
  }
}

/**
 * Reads the attributes of an item, or of a map within one, and checks their types. All methods throw
 * {@link DamagedItem}, which names the attribute.
 */
export class StoredReader {
  readonly #attributes: Attributes;
  readonly #place: string;

  /** @param place the kind of item, then the path within it, for messages */
  constructor(attributes: Attributes, place: string) {
    this.#attributes = attributes;
    this.#place = place;
  }

  has(name: string): boolean {
    return this.#attributes[name] !== undefined;
  }

  text(name: string): string {
    return this.#required(name, 'string');
  }

  optionalText(name: string): string | undefined {
    return this.#optional(name, 'string');
  }

  number(name: string): number {
    return this.#required(name, 'number');
  }

  optionalNumber(name: string): number | undefined {
    return this.#optional(name, 'number');
  }

  boolean(name: string): boolean {
    return this.#required(name, 'boolean');
  }

  /** Returns a string that must be one of `choices`. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.#attributes[name];
    return choices.find((choice) => choice === value) ?? this.#refuse(name, choices.join(' or '));
  }

  map(name: string): StoredReader {
    return this.optionalMap(name) ?? this.#refuse(name, 'map');
  }

  optionalMap(name: string): StoredReader | undefined {
    const value = this.#attributes[name];
    return value === undefined ? undefined : this.#inner(name, value);
  }

  /** Returns a list of maps. */
  maps(name: string): readonly StoredReader[] {
    return this.optionalMaps(name) ?? this.#refuse(name, 'list');
  }

  optionalMaps(name: string): readonly StoredReader[] | undefined {
    const value = this.#attributes[name];
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#refuse(name, 'list');
    return (value as readonly Attribute[]).map((one, at) => this.#inner(`${name}[${at}]`, one));
  }

  #inner(name: string, value: Attribute): StoredReader {
    // Excludes lists, sets and bytes.
    const isMap = Object.prototype.toString.call(value) === '[object Object]';
    return isMap ? new StoredReader(value as Attributes, `${this.#place} ${name}`) : this.#refuse(name, 'map');
  }

  #optional<Name extends keyof Types>(name: string, type: Name): Types[Name] | undefined {
    return this.has(name) ? this.#required(name, type) : undefined;
  }

  #required<Name extends keyof Types>(name: string, type: Name): Types[Name] {
    const value = this.#attributes[name];
    return typeof value === type ? (value as Types[Name]) : this.#refuse(name, type);
  }

  #refuse(name: string, expected: string): never {
    throw new DamagedItem(`${this.#place} ${name}`, expected);
  }
}

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}
