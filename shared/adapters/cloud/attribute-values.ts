import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attribute, Attributes, Item, ItemKey } from '../../ports/key-value-table.ts';

/** An item as DynamoDB's API has it, the key attributes `pk` and `sk` among the others. */
export type StoredItem = Record<string, AttributeValue>;

/** A value as DynamoDB hands it out: the API decodes `B`, a stream event leaves it base64. */
interface StoredValue {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly B?: Uint8Array | string;
  readonly SS?: readonly string[];
  readonly L?: readonly StoredValue[];
  readonly M?: { readonly [name: string]: StoredValue };
}

/** An item as read from the API or from a stream event. */
export type StoredImage = { readonly [name: string]: StoredValue };

/** The key attributes of an item. */
export function marshalKey(key: ItemKey): StoredItem {
  return { pk: { S: key.pk }, sk: { S: key.sk } };
}

/** A whole item. */
export function marshalItem(key: ItemKey, attributes: Attributes): StoredItem {
  return { ...marshalMap(attributes), ...marshalKey(key) };
}

/** A stored item with its key. */
export function unmarshalItem(image: StoredImage): Item {
  return { key: unmarshalKey(image), attributes: unmarshalAttributes(image) };
}

/** The key of a stored item. */
export function unmarshalKey({ pk, sk }: StoredImage): ItemKey {
  if (pk?.S === undefined || sk?.S === undefined)
    throw new TypeError('a stored item without the string keys pk and sk');
  return { pk: pk.S, sk: sk.S };
}

/** The attributes of a stored item without its key. */
export function unmarshalAttributes({ pk: _pk, sk: _sk, ...rest }: StoredImage): Attributes {
  return unmarshalMap(rest);
}

/** The attributes of an item that an answer may or may not hold. */
export function unmarshalIfAny(image: StoredImage | undefined): Attributes | undefined {
  return image && unmarshalAttributes(image);
}

/** One value for DynamoDB. */
export function marshal(value: Attribute): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: marshalNumber(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: value };
  if (isStringSet(value)) return { SS: [...value] };
  if (isList(value)) return { L: value.map(marshal) };
  return { M: marshalMap(value) };
}

/** DynamoDB's numbers are wider than a double in digits and narrower in range; it would answer with a validation error. */
function marshalNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size >= 1e126 || (size > 0 && size < 1e-130)) {
    throw new RangeError(`${value} is no number that DynamoDB can hold`);
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
 * The name under which an attribute is stored: `pk` and `sk` are taken by the key, and the SDK fails on an answer with an
 * attribute `__proto__`, as a user may name his metadata. These get an underscore in front, and so do their likes.
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
  throw new TypeError(`a stored value of a type that is never written: ${Object.keys(value).join()}`);
}

/** A copy, since a small Buffer is a window into a pool that it would keep alive. */
function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function isStringSet(value: Attribute): value is ReadonlySet<string> {
  return value instanceof Set;
}

function isList(value: Attribute): value is readonly Attribute[] {
  return Array.isArray(value);
}
