import type { Checksum } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { formatHttpDate } from '../../http/fields/dates.ts';
import {
  judgeRead,
  rangeApplies,
  verdictError,
  type ObjectFacts,
  type Preconditions,
} from '../../http/fields/preconditions.ts';
import { contentRange, parseRange, unsatisfiableRange, type ByteRange } from '../../http/fields/range.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Contents } from '../../storage/objects/contents.ts';
import { etagOf, type Version } from '../../storage/versions/versions.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import type { ObjectLock } from '../../storage/versions/object-lock.ts';
import { checkCustomerKey, encryptionFields, type CustomerKey, type Unvalidated } from './encryption.ts';
import { readExpirations } from './expiration-header.ts';
import { checksumFields, objectFields, overridden } from './object-headers.ts';
import { lockFields } from './object-lock.ts';
import type { Answer, Context, Services } from '../operation.ts';

/** The input of a GET or HEAD, of an object or of a website's page. */
export interface ReadInput {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
  readonly range: string | undefined;
  readonly partNumber: number | undefined;
  readonly ifRange: string | undefined;
  readonly conditions: Preconditions;
  readonly customer: Unvalidated<CustomerKey | undefined>;
  readonly showChecksum: boolean;
  readonly overrides: ReadonlyMap<string, string>;
}

/** The result of a read, before the bytes. */
export interface ReadOutput {
  readonly version: Version;
  readonly objectAttributes: ObjectAttributes;
  readonly notModified: boolean;
  readonly stretch: Stretch;
  /** The part of its lock that the caller may see. Default: none. */
  readonly lock?: ObjectLock;
  /** The header about its expiration, if it expires. */
  readonly expiration: readonly (readonly [name: string, value: string])[];
}

/** The requested part of the bytes, with its own checksum if it has one. */
interface Stretch {
  /** Undefined: all bytes. */
  readonly range: ByteRange | undefined;
  readonly checksum: Checksum | undefined;
}

/**
 * Evaluates the customer's key, conditions and range for a version that exists and that the caller may read.
 * @throws S3Error InvalidRequest (its key), PreconditionFailed, InvalidPart, InvalidRange
 */
export async function judgeFound(
  version: Version,
  input: ReadInput,
  bucket: Bucket,
  services: Services & Pick<Context<'object', 'none'>, 'view'>,
): Promise<ReadOutput> {
  const { view, contents } = services;
  checkCustomerKey(version.encryption, input.customer());
  const facts = { etag: etagOf(version), lastModified: version.lastModified };
  const verdict = judgeRead(input.conditions, facts);
  const failure = verdictError(verdict);
  if (failure) throw failure;
  const objectAttributes = await view.objectAttributes(version);
  const expiration = (await readExpirations(services, bucket))(input.key, version, objectAttributes.tags);
  const notModified = verdict === 'not-modified';
  const stretch = notModified ? whole(version) : await stretchOf(version, input, facts, contents);
  return { version, objectAttributes, expiration, notModified, stretch };
}

/** Returns the requested part of a version. @throws S3Error InvalidPart, InvalidRange */
function stretchOf(
  version: Version,
  { partNumber, ifRange, range: asked }: ReadInput,
  facts: ObjectFacts,
  contents: Contents,
): Stretch | Promise<Stretch> {
  if (partNumber !== undefined) return partOf(version, partNumber, contents);
  const range = rangeApplies(ifRange, facts) ? parseRange(asked, version.size) : undefined;
  if (range === 'unsatisfiable') throw unsatisfiableRange(asked!, version.size);
  return range === undefined ? whole(version) : { range, checksum: undefined };
}

function whole({ checksum }: Version): Stretch {
  return { range: undefined, checksum };
}

/** Returns one part of a multipart object. Any other object consists of one part. */
async function partOf(version: Version, number: number, contents: Contents): Promise<Stretch> {
  const part = await contents.part(version, number);
  if (part === undefined) {
    throw new S3Error('InvalidPart', { message: 'The requested part number is not satisfiable.' });
  }
  const { firstByte, size, checksum } = part;
  return { range: size === 0 ? undefined : { first: firstByte, last: firstByte + size - 1 }, checksum };
}

/** Opens the requested bytes, if there are any to return. */
export async function openFound(
  { version, notModified, stretch }: ReadOutput,
  { customer }: Pick<ReadInput, 'customer'>,
  contents: Contents,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  return notModified ? undefined : contents.read(version, stretch.range, customer()?.key);
}

/** Renders the status and headers that GET and HEAD share. */
export function renderRead(output: ReadOutput, input: ReadInput): Answer {
  const { version, objectAttributes, expiration, notModified, stretch, lock = {} } = output;
  if (notModified) {
    const { cacheControl, expires } = objectAttributes.headers;
    return {
      status: 304,
      fields: [
        ['last-modified', formatHttpDate(version.lastModified)],
        ['etag', `"${etagOf(version)}"`],
        ...(cacheControl === undefined ? [] : [['cache-control', cacheControl] as const]),
        ...(expires === undefined ? [] : [['expires', expires] as const]),
      ],
    };
  }
  const { range, checksum } = stretch;
  const length = range ? range.last - range.first + 1 : version.size;
  return {
    status: range ? 206 : 200,
    fields: [
      ...overridden(objectFields(version, objectAttributes), input.overrides),
      ...expiration,
      ...lockFields(lock),
      ...checksumFields(input.showChecksum ? checksum : undefined, version.partCount),
      ...(input.partNumber !== undefined && version.partCount !== undefined
        ? [['x-amz-mp-parts-count', String(version.partCount)] as const]
        : []),
      ...encryptionFields(version.encryption, input.customer()),
      ['content-length', String(length)],
      ...(range ? [['content-range', contentRange(range, version.size)] as const] : []),
    ],
  };
}
