import { S3Error } from '../errors/s3-error.ts';
import { trimBlanks } from '../http/blanks.ts';
import { parseIsoDate } from '../http/dates.ts';
import type { Fields } from '../http/message.ts';

/** What whoever signed a form allows to be sent with it. */
export interface PostPolicy {
  /** Until when, in milliseconds since the epoch. */
  readonly expiration: number;
  readonly conditions: readonly FieldCondition[];
  /** How many bytes the file may have. */
  readonly size: SizeRange;
}

/** A condition on one field. */
interface FieldCondition {
  readonly operator: 'eq' | 'starts-with';
  /** Lower case, without the dollar sign. */
  readonly field: string;
  /** UTF-8 as latin1 characters, as the values of fields are. */
  readonly value: string;
}

/** Both ends are included. */
export interface SizeRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Reads the `policy` field of a form: base64 of JSON. Whatever is not exactly a policy is refused: a condition that was
 * misread would allow what nobody signed.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 *
 * @throws S3Error InvalidPolicyDocument
 */
export function parsePostPolicy(base64: string): PostPolicy {
  const document = parseJson(decode(base64));
  if (!isRecord(document)) throw invalid('it is not a JSON object.');
  for (const name of Object.keys(document)) {
    if (name !== 'expiration' && name !== 'conditions') throw invalid(`unexpected '${name}'.`);
  }
  const { expiration, conditions } = document;
  const time = typeof expiration === 'string' ? parseIsoDate(expiration) : undefined;
  if (time === undefined) throw invalid('expiration is missing or not an ISO 8601 date.');
  if (!Array.isArray(conditions) || conditions.length === 0) throw invalid('conditions are missing.');
  const parsed = conditions.map(parseCondition);
  const sizes = parsed.filter((one) => 'minimum' in one);
  return {
    expiration: time,
    conditions: distinct(parsed.filter((one) => 'field' in one)),
    size: {
      minimum: Math.max(0, ...sizes.map(({ minimum }) => minimum)),
      maximum: Math.min(Infinity, ...sizes.map(({ maximum }) => maximum)),
    },
  };
}

/** To hold a field to the same condition again takes as long again, and a policy can say it some hundred times. */
function distinct(conditions: readonly FieldCondition[]): FieldCondition[] {
  return [...new Map(conditions.map((one) => [JSON.stringify([one.operator, one.field, one.value]), one])).values()];
}

function decode(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  // Buffer skips what is not base64, so only the way back shows whether all of it was.
  if (bytes.toString('base64') !== base64) throw invalid('it is not base64.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('it is not UTF-8.', cause);
  }
}

function parseJson(text: string): unknown {
  try {
    // Beyond what JSON knows a policy may escape the dollar sign.
    return JSON.parse(text.replace(/\\([^])/g, (escape, character) => (character === '$' ? '$' : escape)));
  } catch (cause) {
    throw invalid('it is not JSON.', cause);
  }
}

function parseCondition(condition: unknown): FieldCondition | SizeRange {
  if (Array.isArray(condition)) return parseOperation(condition);
  if (!isRecord(condition)) throw invalid('a condition is neither an object nor a list.');
  const properties = Object.entries(condition);
  const [property] = properties;
  if (property === undefined || properties.length > 1) {
    throw invalid('a simple condition must have exactly one property.');
  }
  const [name, value] = property;
  if (typeof value !== 'string') throw invalid('the value of a simple condition must be a string.');
  return fieldCondition('eq', name, value);
}

function parseOperation(condition: readonly unknown[]): FieldCondition | SizeRange {
  const [operator, first, second] = condition;
  if (condition.length !== 3) throw invalid('a condition must have three items.');
  const name = typeof operator === 'string' ? operator.toLowerCase() : undefined;
  switch (name) {
    case 'eq':
    case 'starts-with':
      if (typeof first !== 'string' || typeof second !== 'string' || !/^\$./s.test(first)) {
        throw invalid(`${name} takes a field with a dollar sign before it, and a string.`);
      }
      return fieldCondition(name, first.slice(1), second);
    case 'content-length-range': {
      const [minimum, maximum] = [parseSize(first), parseSize(second)];
      if (minimum > maximum) throw invalid('content-length-range ends before it begins.');
      return { minimum, maximum };
    }
    default:
      throw invalid('a condition has an unknown operator.');
  }
}

function fieldCondition(operator: FieldCondition['operator'], name: string, value: string): FieldCondition {
  return { operator, field: asBytes(name).toLowerCase(), value: asBytes(value) };
}

function parseSize(size: unknown): number {
  const digits = typeof size === 'number' || typeof size === 'string' ? String(size) : '';
  if (!/^\d{1,15}$/.test(digits)) throw invalid('content-length-range takes two numbers that are not negative.');
  return Number(digits);
}

/**
 * Holds a form to its policy: it is valid yet, every condition is met, and every field is met by a condition. The bucket is
 * what the request was sent to, whatever a field of that name says, and a policy must say which it is for; else what was
 * signed for one bucket would do for every other.
 *
 * @param fields of the form, variables replaced
 * @param now milliseconds since the epoch
 * @throws S3Error AccessDenied
 */
export function checkPostPolicy(policy: PostPolicy, fields: Fields, bucket: string, now: number): void {
  if (now >= policy.expiration) throw denied('Policy expired.');
  const said = new Map(Array.from(fields.names(), (name) => [name, fields.get(name)!]));
  said.set('bucket', asBytes(bucket));
  const types = (said.get('content-type') ?? '').split(',').map(trimBlanks);
  for (const condition of policy.conditions) {
    const value = said.get(condition.field);
    if (value === undefined || !isMet(condition, value, types))
      throw denied(`Policy Condition failed: ${print(condition)}`);
  }
  const met = new Set(policy.conditions.map(({ field }) => field));
  const extra = [...said.keys()].filter((name) => !met.has(name) && !needNoCondition.has(name) && !isIgnored(name));
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.map(asText).join(', ')}`);
}

/** The policy can't speak of its own signature; AWSAccessKeyId has two spellings. */
const needNoCondition: ReadonlySet<string> = new Set([
  'policy',
  'x-amz-signature',
  'signature',
  'awsaccesskeyid',
  'svcaccesskeyid',
]);

function isIgnored(name: string): boolean {
  return name.startsWith('x-ignore-');
}

/**
 * @param types what Content-Type lists, of which each must begin as a condition says. All conditions that are met are beginnings of
 *   the shortest, so there are no more of them than it is long, and they take no longer than the list has characters.
 */
function isMet({ operator, field, value: expected }: FieldCondition, value: string, types: readonly string[]): boolean {
  if (operator === 'eq') return value === expected;
  const items = field === 'content-type' ? types : [value];
  return items.every((item) => item.startsWith(expected));
}

/**
 * Passes the bytes of a file on and holds them to a range, above it as soon as they are.
 * @throws S3Error EntityTooLarge, EntityTooSmall
 */
export async function* heldToSize(
  bytes: AsyncIterable<Uint8Array>,
  { minimum, maximum }: SizeRange,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maximum) {
      const details = { ProposedSize: String(size), MaxSizeAllowed: String(maximum) };
      throw new S3Error('EntityTooLarge', { details });
    }
    yield chunk;
  }
  if (size < minimum) {
    const details = { ProposedSize: String(size), MinSizeAllowed: String(minimum) };
    throw new S3Error('EntityTooSmall', { details });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function asText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

function print({ operator, field, value }: FieldCondition): string {
  return JSON.stringify([operator, `$${asText(field)}`, asText(value)]);
}

function invalid(what: string, cause?: unknown): S3Error {
  return new S3Error('InvalidPolicyDocument', { message: `Invalid Policy: ${what}`, cause });
}

function denied(what: string): S3Error {
  return new S3Error('AccessDenied', { message: `Invalid according to Policy: ${what}` });
}
