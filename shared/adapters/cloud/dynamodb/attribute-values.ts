import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attribute, Attributes, Item, ItemKey } from '../../../ports/key-value-table.ts';

/** An item in the format of DynamoDB's API, with the key attributes `pk` and `sk` among the others. */
export type StoredItem = Record<string, AttributeValue>;

/** A value as received from DynamoDB: the SDK decodes `B`, a stream event leaves it as base64. */
interface StoredValue {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly B?: Uint8Array | string;
  readonly SS?: readonly string[];
  readonly L?: readonly StoredValue[];
  readonly M?: { readonly [name: string]: StoredValue };
}

/** An item as received from the API or in a stream event. */
export type StoredImage = { readonly [name: string]: StoredValue };

/** Returns the key attributes of an item. */
export function marshalKey(key: ItemKey): StoredItem {
  return { pk: { S: key.pk }, sk: { S: key.sk } };
}

/** Returns a whole item in DynamoDB's format. */
export function marshalItem(key: ItemKey, attributes: Attributes): StoredItem {
  return { ...marshalMap(attributes), ...marshalKey(key) };
}

/** Returns a stored item with its key. */
export function unmarshalItem(image: StoredImage): Item {
  return { key: unmarshalKey(image), attributes: unmarshalAttributes(image) };
}

/** Returns the key of a stored item. */
export function unmarshalKey({ pk, sk }: StoredImage): ItemKey {
  if (pk?.S === undefined || sk?.S === undefined) throw new TypeError('a stored item lacks the string keys pk and sk');
  return { pk: pk.S, sk: sk.S };
}

/** Returns the attributes of a stored item without its key. */
export function unmarshalAttributes({ pk: _pk, sk: _sk, ...rest }: StoredImage): Attributes {
  return unmarshalMap(rest);
}

/** Returns the attributes of an item, or undefined if the response has none. */
export function unmarshalIfAny(image: StoredImage | undefined): Attributes | undefined {
  return image && unmarshalAttributes(image);
}

/** Converts a value for DynamoDB. */
export function marshal(value: Attribute): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: marshalNumber(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: value };
  if (isStringSet(value)) return { SS: [...value] };
  if (isList(value)) return { L: value.map(marshal) };
  return { M: marshalMap(value) };
}

/**
 * Formats a number. DynamoDB's numbers have more digits than a double but a smaller range; it rejects others with a
 * validation error.
 */
function marshalNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size >= 1e126 || (size > 0 && size < 1e-130)) {
    throw new RangeError(`DynamoDB cannot store the number ${value}`);
  }
  return String(value);
}

function marshalMap(map: Attributes): StoredItem {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [storedName(name), marshal(value)]));
}

function unmarshalMap(map: StoredImage): Attributes {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [ownName(name), unmarshal(value)]));
}

/**
 * Returns the stored name of an attribute. `pk` and `sk` belong to the key, and the SDK fails on a response with an
 * attribute `__proto__`, which a user may choose as a metadata name. Prefixes these names, and those that would collide
 * with the result, with an underscore.
 */
export function storedName(name: string): string {
  return /^_*(__proto__|pk|sk)$/.test(name) ? `_${name}` : name;
}

function ownName(stored: string): string {
  return /^_+(__proto__|pk|sk)$/.test(stored) ? stored.slice(1) : stored;
}

function unmarshal(value: StoredValue): Attribute {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.B !== undefined) return typeof value.B === 'string' ? decodeBase64(value.B) : value.B;
  if (value.SS !== undefined) return new Set(value.SS);
  if (value.L !== undefined) return value.L.map(unmarshal);
  if (value.M !== undefined) return unmarshalMap(value.M);
  throw new TypeError(`a stored value has an unexpected type: ${Object.keys(value).join()}`);
}

/** Decodes base64 into a copy, since a small Buffer would keep the pool alive that it is part of. */
function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function isStringSet(value: Attribute): value is ReadonlySet<string> {
  return value instanceof Set;
}

function isList(value: Attribute): value is readonly Attribute[] {
  return Array.isArray(value);
}
