import type { PlainErrorCode } from '../errors/s3-error.ts';

/** How the elements of a document are read. */
export interface Reading {
  /** False for documents of the service, in which clients skip what they do not know. */
  readonly isStrict: boolean;
  /** Creates the error for a document that violates its schema. */
  fault(reason: string): Error;
  /** Creates an error for a value that the service does not accept. */
  refusal(code: PlainErrorCode, message: string, details: Readonly<Record<string, string>>): Error;
}

/**
 * An element of a parsed document, with strict accessors: they throw the document's schema error if the expected
 * content is missing or invalid. Names are local names, since S3 accepts documents with any namespace or none.
 */
export class XmlElement {
  readonly name: string;
  /** By local name, without namespace declarations. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  readonly #text: string;
  readonly #reading: Reading;

  constructor(
    name: string,
    attributes: ReadonlyMap<string, string>,
    children: readonly XmlElement[],
    text: string,
    reading: Reading,
  ) {
    this.name = name;
    this.attributes = attributes;
    this.children = children;
    this.#text = text;
    this.#reading = reading;
  }

  get isStrict(): boolean {
    return this.#reading.isStrict;
  }

  /** Creates the document's schema error, with the reason. */
  fault(reason: string): Error {
    return this.#reading.fault(reason);
  }

  /** Creates an error of the service other than the schema error. */
  refusal(code: PlainErrorCode, message: string, details: Readonly<Record<string, string>> = {}): Error {
    return this.#reading.refusal(code, message, details);
  }

  /** Creates an error InvalidRequest. */
  invalid(message: string): Error {
    return this.refusal('InvalidRequest', message);
  }

  /** Creates an error InvalidArgument, which names an element and its value. */
  invalidArgument(message: string, name = this.name, value = this.text): Error {
    return this.refusal('InvalidArgument', message, { ArgumentName: name, ArgumentValue: value });
  }

  /** The text of an element without children, including white space. */
  get text(): string {
    if (this.children.length > 0) throw this.fault(`${this.name} must hold text only`);
    return this.#text;
  }

  /** Returns all children with this name, in document order. */
  many(name: string): readonly XmlElement[] {
    return this.children.filter((child) => child.name === name);
  }

  /** Returns the child with this name, or undefined. Throws if there are several. */
  optional(name: string): XmlElement | undefined {
    let found: XmlElement | undefined;
    for (const child of this.children) {
      if (child.name !== name) continue;
      if (found !== undefined) throw this.fault(`${this.name} has more than one ${name}`);
      found = child;
    }
    return found;
  }

  /** Returns the only child with this name. Throws if there are none or several. */
  one(name: string): XmlElement {
    const found = this.optional(name);
    if (found === undefined) throw this.fault(`${this.name} has no ${name}`);
    return found;
  }

  /** Throws if there is a text, or another child. Not to be called where S3 ignores unknown elements. */
  onlyChildren(isKnown: (name: string) => boolean): this {
    if (!this.isStrict) return this;
    // Whoever writes the prefix of a rule into its Filter does not mean the whole bucket.
    if (this.#text.trim() !== '') throw this.fault(`${this.name} must hold elements, not a text`);
    const other = this.children.find(({ name }) => !isKnown(name));
    if (other !== undefined) throw this.fault(`${this.name} must not contain ${other.name}`);
    return this;
  }
}
