import type { Attribute, Attributes } from '../../ports/key-value-table.ts';

/**
 * Returns the bytes that DynamoDB counts for an item's attributes: names and values, by its published rules.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemBytes(attributes: Attributes): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(attributes)) bytes += Buffer.byteLength(name) + attributeBytes(value);
  return bytes;
}

function attributeBytes(value: Attribute): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (typeof value === 'boolean') return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof Set)
    return [...(value as ReadonlySet<string>)].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  if (Array.isArray(value)) {
    return 3 + (value as readonly Attribute[]).reduce<number>((sum, one) => sum + 1 + attributeBytes(one), 0);
  }
  const entries = Object.entries(value as Attributes);
  return 3 + entries.reduce((sum, [name, one]) => sum + 1 + Buffer.byteLength(name) + attributeBytes(one), 0);
}

/** Returns one byte per two significant digits, plus one (and another for a negative number). */
function numberBytes(value: number): number {
  const magnitude = Math.abs(value);
  const digits = Number.isSafeInteger(magnitude) ? digitsOfInteger(magnitude) : digitsOfFraction(magnitude);
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
}

/**
 * Counts digits by arithmetic: most numbers are integers, every put counts a whole item, and formatting text is too
 * slow.
 */
function digitsOfInteger(value: number): number {
  if (value === 0) return 0;
  let rest = value;
  while (rest % 10 === 0) rest /= 10;
  let digits = 1;
  for (let limit = 10; rest >= limit; limit *= 10) digits += 1;
  return digits;
}

function digitsOfFraction(value: number): number {
  return value
    .toExponential()
    .split('e', 1)[0]!
    .replace('.', '')
    .replace(/(?<!0)0+$/, '').length;
}
