import type { Attribute, Attributes } from '../../ports/key-value-table.ts';

/** An item, or a part of one, that is not what its writers write. Ends a request in a 500; the message goes to the log. */
export class DamagedItem extends Error {
  constructor(place: string, expected: string) {
    super(`an item is damaged: ${place} is not ${expected}`);
    this.name = 'DamagedItem';
  }
}

/**
 * Reads the attributes of an item, or of a map within one, and checks their types. All methods throw {@link DamagedItem}, which
 * names the attribute.
 */
export class StoredReader {
  readonly #attributes: Attributes;
  readonly #place: string;

  /** @param place what is read, for messages: the kind of item, then the path within it */
  constructor(attributes: Attributes, place: string) {
    this.#attributes = attributes;
    this.#place = place;
  }

  has(name: string): boolean {
    return this.#attributes[name] !== undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#refuse(name, 'a string');
  }

  optionalText(name: string): string | undefined {
    const value = this.#attributes[name];
    return value === undefined || typeof value === 'string' ? value : this.#refuse(name, 'a string');
  }

  number(name: string): number {
    return this.optionalNumber(name) ?? this.#refuse(name, 'a number');
  }

  optionalNumber(name: string): number | undefined {
    const value = this.#attributes[name];
    return value === undefined || typeof value === 'number' ? value : this.#refuse(name, 'a number');
  }

  boolean(name: string): boolean {
    const value = this.#attributes[name];
    return typeof value === 'boolean' ? value : this.#refuse(name, 'a boolean');
  }

  /** One of some strings. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.#attributes[name];
    return choices.find((choice) => choice === value) ?? this.#refuse(name, `one of ${choices.join(', ')}`);
  }

  map(name: string): StoredReader {
    return this.optionalMap(name) ?? this.#refuse(name, 'a map');
  }

  optionalMap(name: string): StoredReader | undefined {
    const value = this.#attributes[name];
    if (value === undefined) return undefined;
    return new StoredReader(asMap(value) ?? this.#refuse(name, 'a map'), `${this.#place} ${name}`);
  }

  /** A list of maps. */
  maps(name: string): readonly StoredReader[] {
    return this.optionalMaps(name) ?? this.#refuse(name, 'a list of maps');
  }

  optionalMaps(name: string): readonly StoredReader[] | undefined {
    const value = this.#attributes[name];
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#refuse(name, 'a list of maps');
    return (value as readonly Attribute[]).map((one, at) => {
      const place = `${this.#place} ${name}[${at}]`;
      return new StoredReader(asMap(one) ?? this.#refuse(name, 'a list of maps'), place);
    });
  }

  #refuse(name: string, expected: string): never {
    throw new DamagedItem(`${this.#place} ${name}`, expected);
  }
}

function asMap(value: Attribute): Attributes | undefined {
  const isMap =
    typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Set);
  return isMap ? (value as Attributes) : undefined;
}
