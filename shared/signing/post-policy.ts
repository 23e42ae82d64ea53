import { S3Error } from '../errors/s3-error.ts';
import { trimBlanks } from '../http/fields/field-syntax.ts';
import { parseIsoDate } from '../http/fields/dates.ts';
import type { Fields } from '../http/message.ts';

/** The conditions under which the signer of a form allows an upload. */
export interface PostPolicy {
  /** In milliseconds since the epoch. */
  readonly expiration: number;
  readonly conditions: readonly FieldCondition[];
  /** The permitted size of the file in bytes. */
  readonly size: SizeRange;
}

/** A condition on one field. */
interface FieldCondition {
  readonly operator: 'eq' | 'starts-with';
  /** In lower case, without the dollar sign. */
  readonly field: string;
  /** UTF-8 bytes as latin1 characters, like field values. */
  readonly value: string;
}

/** A range of sizes in bytes, both ends inclusive. */
export interface SizeRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Parses the `policy` field of a form: base64 of JSON. Rejects anything that is not exactly a policy, because a misread
 * condition would allow something that nobody signed.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 *
 * @throws S3Error InvalidPolicyDocument
 */
export function parsePostPolicy(base64: string): PostPolicy {
  const document = parseJson(decode(base64));
  if (!isRecord(document)) throw invalid('it must be a JSON object.');
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

/** Removes repeated conditions. A policy has room for hundreds of them, and each would take time to check again. */
function distinct(conditions: readonly FieldCondition[]): FieldCondition[] {
  return [...new Map(conditions.map((one) => [JSON.stringify([one.operator, one.field, one.value]), one])).values()];
}

function decode(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  // Buffer ignores characters that are not base64, so only encoding it again shows whether all of it was valid.
  if (bytes.toString('base64') !== base64) throw invalid('it is not valid base64.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('it is not valid UTF-8.', cause);
  }
}

function parseJson(text: string): unknown {
  try {
    // Unlike JSON, a policy may escape the dollar sign.
    return JSON.parse(text.replace(/\\([^])/g, (escape, character) => (character === '$' ? '$' : escape)));
  } catch (cause) {
    throw invalid('it is not valid JSON.', cause);
  }
}

function parseCondition(condition: unknown): FieldCondition | SizeRange {
  if (Array.isArray(condition)) return parseOperation(condition);
  if (!isRecord(condition)) throw invalid('a condition must be an object or a list.');
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
        throw invalid(`${name} needs a field name that begins with a dollar sign, and a string.`);
      }
      return fieldCondition(name, first.slice(1), second);
    case 'content-length-range': {
      const [minimum, maximum] = [parseSize(first), parseSize(second)];
      if (minimum > maximum) throw invalid('the maximum of content-length-range is less than its minimum.');
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
  if (!/^\d{1,15}$/.test(digits)) throw invalid('content-length-range needs two non-negative integers.');
  return Number(digits);
}

/**
 * Checks a form against its policy: the policy has not expired, every condition is met, and every field is covered by a
 * condition. The bucket is the one that the request was sent to, regardless of a field of that name, and the policy
 * must have a condition on it; otherwise it would be valid for every bucket.
 *
 * @param fields of the form, with variables replaced
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

/** The fields that need no condition: the policy cannot cover its own signature. AWSAccessKeyId has two spellings. */
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
 * Tells whether a field meets a condition.
 * @param types the items of Content-Type, each of which must have the prefix in the condition. All conditions that can
 *   be met are prefixes of the shortest item, so there are at most as many as it is long, and checking them takes no
 *   longer than the list has characters.
 */
function isMet({ operator, field, value: expected }: FieldCondition, value: string, types: readonly string[]): boolean {
  if (operator === 'eq') return value === expected;
  const items = field === 'content-type' ? types : [value];
  return items.every((item) => item.startsWith(expected));
}

/**
 * Passes the bytes of a file through and checks their number. Throws as soon as there are too many.
 * @param announced how many bytes are still expected at the start, for the error; undefined if unknown
 * @throws S3Error EntityTooLarge, EntityTooSmall
 */
export async function* heldToSize(
  bytes: AsyncIterable<Uint8Array>,
  { minimum, maximum }: SizeRange,
  announced?: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maximum) {
      const proposed = Math.max(size, announced ?? 0);
      const details = { ProposedSize: String(proposed), MaxSizeAllowed: String(maximum) };
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
