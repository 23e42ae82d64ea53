import type { PlainErrorCode } from '../errors/s3-error.ts';
import type { XmlElement } from './element.ts';
import { document, escapeXml, tag, timestamp } from './text.ts';

/*
 * A document is declared once. From its declaration follow its strict reader, its writer, which keeps the order of the
 * declaration, and the type of its value. Nothing in this folder needs Node.js: the console imports it.
 */

/** What an element contains. */
export interface Content<Value> {
  /** @throws the document's schema error, or another error of the service for a value that it does not accept */
  read(this: void, element: XmlElement): Value;
  /** Returns the XML inside the element. */
  write(this: void, value: Value): string;
}

/** Content that is never read. */
export interface Written<Value> {
  /** Returns the XML inside the element. */
  readonly write: (this: void, value: Value) => string;
}

/** The value of a content or of a document. */
export type ValueOf<Declared> = Declared extends { readonly content: Content<infer Value> }
  ? Value
  : Declared extends Content<infer Value>
    ? Value
    : never;

/** Any text. */
export const text: Content<string> = { read: (element) => element.text, write: escapeXml };

/** An element that is read later, and never written. */
export const unread: Content<XmlElement> = { read: (element) => element, write: () => '' };

/** Refuses an element of a feature that is not implemented. */
export function refused(message: string): Content<never> {
  return {
    read: (element) => {
      throw element.refusal('NotImplemented', message);
    },
    write: () => '',
  };
}

/** Elements whose content is of no interest. */
export function ignored(name: string): Field<undefined, 'optional'> {
  return field(
    name,
    () => undefined,
    () => '',
  );
}

/** Any number, as the service writes it. */
export const number: Content<number> = { read: (element) => Number(element.text), write: String };

/** A whole number within bounds. Surrounding white space is allowed, as in XML Schema. */
export function integer({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
} = {}): Content<number> {
  return {
    read: (element) => {
      const digits = element.text.trim();
      const value = /^[+-]?\d+$/.test(digits) ? Number(digits) : NaN;
      if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
        throw element.fault(`${element.name} must be a whole number from ${minimum} to ${maximum}`);
      }
      return value + 0; // "-0" is 0
    },
    write: String,
  };
}

/** `true`, `false`, `1` or `0`, in any case since several clients write `True`. */
export const boolean: Content<boolean> = {
  read: (element) => {
    const word = element.text.trim().toLowerCase();
    if (word === 'true' || word === '1') return true;
    if (word === 'false' || word === '0') return false;
    throw element.fault(`${element.name} must be true or false`);
  },
  write: String,
};

/** One of these words, spelled exactly. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Content<Word> {
  return {
    read: (element) => {
      const found = element.text;
      const word = words.find((candidate) => candidate === found);
      if (word === undefined) throw element.fault(`${element.name} must be one of ${words.join(', ')}`);
      return word;
    },
    write: escapeXml,
  };
}

/** A text that `parse` understands: it returns undefined for another. */
export function parsed<Value>(
  parse: (text: string) => Value | undefined,
  write: (value: Value) => string,
): Content<Value> {
  return {
    read: (element) => {
      const value = parse(element.text);
      if (value === undefined) throw element.fault(`${element.name} has a malformed value`);
      return value;
    },
    write: (value) => escapeXml(write(value)),
  };
}

/** A time as the service writes it, in milliseconds since 1970. */
export const time: Content<number> = { read: (element) => Date.parse(element.text), write: timestamp };

/** An entity tag, whose quotes are not part of the value. */
export const etag: Content<string> = {
  read: (element) => element.text.replace(/^"(.*)"$/s, '$1'),
  write: (value) => escapeXml(`"${value}"`),
};

/** Adds a check to what a client sends. @param check throws an error of the element */
export function checked<Value>(
  content: Content<Value>,
  check: (value: Value, element: XmlElement) => void,
): Content<Value> {
  return {
    read: (element) => {
      const value = content.read(element);
      if (element.isStrict) check(value, element);
      return value;
    },
    write: content.write,
  };
}

/** The same elements as another value. */
export function mapped<Inner, Value>(
  content: Content<Inner>,
  read: (inner: Inner) => Value,
  write: (value: Value) => Inner,
): Content<Value> {
  return { read: (element) => read(content.read(element)), write: (value) => content.write(write(value)) };
}

/** Child elements, and the property that they are the value of. */
export interface Field<Value, Presence extends 'always' | 'optional' | 'undefined' = 'always'> {
  /** Whether the property may be absent, or undefined as well. */
  readonly presence?: Presence;
  readonly name: string;
  /** Whether it takes elements of this name; unless given, those of its own. */
  accepts?(this: void, name: string): boolean;
  read(this: void, parent: XmlElement): Value;
  /** Returns the elements. */
  write(this: void, value: Value): string;
}

function field<Value, Presence extends 'always' | 'optional' | 'undefined' = 'always'>(
  name: string,
  read: (parent: XmlElement) => Value,
  write: (value: Value) => string,
): Field<Value, Presence> {
  return { name, read, write };
}

/** One element of this name. */
export function one<Value>(name: string, content: Content<Value>): Field<Value> {
  return field(
    name,
    (parent) => content.read(parent.one(name)),
    (value) => tag(name, content.write(value)),
  );
}

/** At most one element of this name. */
export function optional<Value>(name: string, content: Content<Value>): Field<Value | undefined, 'optional'> {
  return field(
    name,
    (parent) => {
      const found = parent.optional(name);
      return found && content.read(found);
    },
    (value) => (value === undefined ? '' : tag(name, content.write(value))),
  );
}

/** One element of this name in requests; responses may have none. */
export function oneInRequests<Value>(name: string, content: Content<Value>): Field<Value | undefined, 'optional'> {
  const { read, write } = optional(name, content);
  return { name, read: (parent) => (parent.isStrict ? content.read(parent.one(name)) : read(parent)), write };
}

/** As {@link optional}, of documents that are only written: the property may also be undefined. */
export function ifAny<Value>(name: string, content: Content<Value>): Field<Value | undefined, 'undefined'> {
  const { read, write } = optional(name, content);
  return { name, read, write };
}

/** At most one element of this name, without which the property has this value. */
export function ifMissing<Value>(value: Value, name: string, content: Content<Value>): Field<Value> {
  const { read, write } = optional(name, content);
  return field(name, (parent) => read(parent) ?? value, write);
}

/** Any number of elements of this name. */
export function many<Value>(name: string, content: Content<Value>): Field<readonly Value[]> {
  return field(
    name,
    (parent) => parent.many(name).map((element) => content.read(element)),
    (values) => values.map((value) => tag(name, content.write(value))).join(''),
  );
}

/** One element of this name, or more. */
export function some<Value>(name: string, content: Content<Value>): Field<readonly Value[]> {
  const { read, write } = many(name, content);
  const atLeastOne = (parent: XmlElement): readonly Value[] => {
    const values = read(parent);
    if (values.length === 0) throw parent.fault(`${parent.name} has no ${name}`);
    return values;
  };
  return { name, read: atLeastOne, write };
}

/** Any number of elements of this name; without one, the property is absent. */
export function someIfAny<Value>(
  name: string,
  content: Content<Value>,
): Field<readonly Value[] | undefined, 'optional'> {
  const { read, write } = many(name, content);
  const ifAnyIsThere = (parent: XmlElement) => {
    const values = read(parent);
    return values.length === 0 ? undefined : values;
  };
  return { name, read: ifAnyIsThere, write: (values = []) => write(values) };
}

type Fields = Readonly<Record<string, Field<unknown, 'always' | 'optional' | 'undefined'>>>;
type ValueIn<Of> = Of extends Field<infer Value, infer _> ? Value : never;
type Properties<Of, Presence> = {
  [Name in keyof Of]: Of[Name] extends Field<unknown, infer Its> ? (Its extends Presence ? Name : never) : never;
}[keyof Of];
type Simple<Of> = { [Name in keyof Of]: Of[Name] };

/** The properties of elements. */
type ValuesOf<Of extends Fields> = Simple<
  { readonly [Name in Properties<Of, 'always'>]: ValueIn<Of[Name]> } & {
    readonly [Name in Properties<Of, 'optional'>]?: Exclude<ValueIn<Of[Name]>, undefined>;
  } & { readonly [Name in Properties<Of, 'undefined'>]?: ValueIn<Of[Name]> }
>;

/** These elements and no others, written in this order and read in any. */
export function elements<const Of extends Fields>(fields: Of): Content<ValuesOf<Of>> {
  const entries = Object.entries(fields);
  const names = new Set(entries.map(([, { name }]) => name));
  const others = entries.flatMap(([, { accepts }]) => accepts ?? []);
  const isKnown = (name: string): boolean => names.has(name) || others.some((accepts) => accepts(name));
  return {
    read: (element) => {
      element.onlyChildren(isKnown);
      const values: Record<string, unknown> = {};
      for (const [property, { read }] of entries) {
        const value = read(element);
        if (value !== undefined) values[property] = value;
      }
      return values as ValuesOf<Of>;
    },
    write: (values) => {
      let xml = '';
      for (const [property, { write }] of entries)
        xml += write((values as Readonly<Record<string, unknown>>)[property]);
      return xml;
    },
  };
}

/** One of these elements. */
export function choice<const Of extends Fields>(
  fields: Of,
): Content<{ [Name in keyof Of]: { readonly [Only in Name]: ValueIn<Of[Name]> } }[keyof Of]> {
  const entries = Object.entries(fields);
  return {
    read: (element) => {
      const [child, ...others] = element.children;
      const entry = entries.find(([, { name }]) => name === child?.name);
      if (entry === undefined || others.length > 0) {
        const names = entries.map(([, { name }]) => name).join(', ');
        throw element.fault(`${element.name} must have one of ${names}`);
      }
      return { [entry[0]]: entry[1].read(element) } as never;
    },
    write: (value) => {
      const [property, inner] = Object.entries(value)[0]!;
      return fields[property]!.write(inner);
    },
  };
}

/** Nothing but one element of this name. */
export function only<Value>(name: string, content: Content<Value>): Content<Value> {
  return mapped(
    elements({ only: one(name, content) }),
    ({ only }) => only,
    (only) => ({ only }),
  );
}

/** Nothing but elements of one name. */
export interface ListContent<Value> extends Content<readonly Value[]> {
  readonly name: string;
  readonly item: Content<Value>;
  itemsOf(this: void, element: XmlElement): readonly XmlElement[];
  /** Returns one of the elements. */
  writeItem(this: void, value: Value): string;
}

/** Nothing but elements of this name, at least so many. */
export function list<Value>(name: string, item: Content<Value>, minimum = 0): ListContent<Value> {
  const { write } = many(name, item);
  const itemsOf = (element: XmlElement): readonly XmlElement[] => {
    element.onlyChildren((other) => other === name);
    if (element.children.length < minimum) throw element.fault(`there must be a ${name}`);
    return element.many(name);
  };
  const read = (element: XmlElement): readonly Value[] => itemsOf(element).map((each) => item.read(each));
  return { name, item, itemsOf, writeItem: (value) => tag(name, item.write(value)), read, write };
}

/** A document. */
export interface DocumentType<Value, Its extends Content<Value> = Content<Value>> {
  /** The name of the root element. */
  readonly root: string;
  readonly content: Its;
  /** The error for a document that is well-formed, but violates the schema. */
  readonly fault: PlainErrorCode;
  /** Returns the whole document. S3's root elements have a namespace, except those of a few responses. */
  write(this: void, value: Value, namespace: string | undefined): string;
  /** Returns the whole document around what its root element contains. */
  around(this: void, inner: string, namespace: string | undefined): string;
}

/** Declares a document. */
export function documentType<Value, Its extends Content<Value>>(
  root: string,
  content: Its & Content<Value>,
  fault: PlainErrorCode = 'MalformedXML',
): DocumentType<Value, Its> {
  const around = (inner: string, namespace: string | undefined): string => document(root, namespace, inner);
  return { root, content, fault, around, write: (value, namespace) => around(content.write(value), namespace) };
}
