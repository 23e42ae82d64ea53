import { invalid } from './failures.ts';

/** A value as it is on the wire, bytes in base64: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html */
export type Value = Readonly<Record<string, unknown>>;
/** Items are shared with their readers, and never changed. */
export type StoredItem = Readonly<Record<string, Value>>;

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const itemBytes = 400 * 1024;
const nestedLevels = 32;
const keyBytes = { pk: 2048, sk: 1024 } as const;

/** Returns type and content of a value. @throws Refusal unless it has exactly one */
function parts(value: Value): readonly [type: string, content: unknown] {
  const [only, ...others] = Object.entries(value);
  if (only === undefined || others.length > 0)
    throw invalid('Supplied AttributeValue must contain exactly one of the supported datatypes');
  return only;
}

/**
 * Returns the bytes that count for an item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 * @throws Refusal for an item that DynamoDB does not take
 */
export function measured(item: StoredItem): number {
  const bytes = sizeOfMap(item, 0);
  if (bytes > itemBytes) throw invalid('Item size has exceeded the maximum allowed size');
  return bytes;
}

function sizeOfMap(map: StoredItem, level: number): number {
  return Object.entries(map).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value, level), 0);
}

function sizeOf(value: Value, level: number): number {
  if (level > nestedLevels) throw invalid('Nesting Levels have exceeded supported limits');
  const [type, content] = parts(value);
  switch (type) {
    case 'S':
      return Buffer.byteLength(content as string);
    case 'N':
      return sizeOfNumber(content as string);
    case 'B':
      return Buffer.byteLength(content as string, 'base64');
    case 'BOOL':
    case 'NULL':
      return 1;
    case 'SS':
      return sizeOfSet(content as readonly string[]);
    case 'L':
      return (content as readonly Value[]).reduce((sum, one) => sum + 1 + sizeOf(one, level + 1), 3);
    case 'M':
      return 3 + Object.keys(content as StoredItem).length + sizeOfMap(content as StoredItem, level + 1);
    default:
      throw invalid(`the engine of the tests has no values of the type ${type}`);
  }
}

function sizeOfSet(texts: readonly string[]): number {
  if (texts.length === 0) throw invalid('One or more parameter values were invalid: An string set  may not be empty');
  if (new Set(texts).size < texts.length)
    throw invalid('One or more parameter values were invalid: Input collection contains duplicates.');
  return texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}

/** Up to 38 digits, between 1e-130 and 1e126. */
function sizeOfNumber(text: string): number {
  const number = Number(text);
  const magnitude = Math.abs(number);
  if (text.trim() === '' || !Number.isFinite(number))
    throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  if (magnitude >= 1e126)
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (magnitude > 0 && magnitude < 1e-130)
    throw invalid('Number underflow. Attempting to store a number with magnitude smaller than supported range');
  const digits = significantDigits(text);
  if (digits > 38) throw invalid('Attempting to store more than 38 significant digits in a Number');
  return Math.ceil(digits / 2) + 1 + (number < 0 ? 1 : 0);
}

function significantDigits(text: string): number {
  const digits = text.split(/e/i, 1)[0]!.replace(/[-+.]/g, '').replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}

/** Returns the key of an item as text. @throws Refusal for a key that DynamoDB does not take */
export function keyOf(item: StoredItem): { readonly pk: string; readonly sk: string } {
  const [pk, sk] = (['pk', 'sk'] as const).map((name) => {
    const value = item[name] === undefined ? undefined : parts(item[name]);
    if (value?.[0] !== 'S')
      throw invalid(
        `One or more parameter values were invalid: Missing the key ${name} in the item, or it is no string`,
      );
    const text = value[1] as string;
    if (text === '')
      throw invalid(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
      );
    if (Buffer.byteLength(text) > keyBytes[name])
      throw invalid(
        `One or more parameter values were invalid: Size of the key ${name} has exceeded the limit of ${keyBytes[name]} bytes`,
      );
    return text;
  });
  return { pk: pk!, sk: sk! };
}

/** As {@link keyOf}, of a key that stands alone. @throws Refusal if it has other attributes as well */
export function givenKey(key: StoredItem): { readonly pk: string; readonly sk: string } {
  if (Object.keys(key).length !== 2) throw invalid('The provided key element does not match the schema');
  return keyOf(key);
}

/** Returns true if two values are equal. The order of sets does not matter. */
export function isEqual(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const [[type, mine], [otherType, other]] = [parts(a), parts(b)];
  if (type !== otherType) return false;
  switch (type) {
    case 'N':
      return Number(mine) === Number(other);
    case 'SS':
      return [...(mine as string[])].sort().join('\n') === [...(other as string[])].sort().join('\n');
    case 'L':
      return (
        (mine as Value[]).length === (other as Value[]).length &&
        (mine as Value[]).every((one, at) => isEqual(one, (other as Value[])[at]))
      );
    case 'M':
      return isSameItem(mine as StoredItem, other as StoredItem);
    default:
      return mine === other;
  }
}

/** Returns whether two items, or maps, have the same attributes. */
export function isSameItem(a: StoredItem, b: StoredItem): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  );
}

/**
 * Compares values of one type: numbers, or strings and bytes as unsigned bytes. Undefined: they cannot be compared, so that no
 * comparison holds. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */
export function order(a: Value | undefined, b: Value | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  const [[type, mine], [otherType, other]] = [parts(a), parts(b)];
  if (type !== otherType) return undefined;
  if (type === 'N') return Number(mine) - Number(other);
  if (type !== 'S' && type !== 'B') return undefined;
  const encoding = type === 'B' ? 'base64' : 'utf8';
  return Buffer.compare(Buffer.from(mine as string, encoding), Buffer.from(other as string, encoding));
}
