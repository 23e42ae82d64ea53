import type { Checksum } from '../../shared/checksums/algorithms.ts';
import type { Question } from '../../shared/access/authorise.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { formatHttpDate } from '../../shared/http/dates.ts';
import { rangeApplies } from '../../shared/http/if-range.ts';
import { judgeRead, parsePreconditions, verdictError, type Preconditions } from '../../shared/http/preconditions.ts';
import { contentRange, parseRange, unsatisfiableRange, type ByteRange } from '../../shared/http/range.ts';
import type { Bucket } from '../../shared/metadata/buckets.ts';
import type { Contents } from '../../shared/metadata/contents.ts';
import { etagOf, versionIdOf, type Particulars, type Version } from '../../shared/metadata/versions.ts';
import {
  checkCustomerKey,
  encryptionFields,
  parseCustomerKey,
  type CustomerKey,
} from '../../shared/protocol/encryption.ts';
import { checksumFields, objectFields, overridden, responseOverrides } from '../../shared/protocol/object-headers.ts';
import { defineOperation, type Answer, type RequestHead, type Services } from '../../shared/protocol/operation.ts';
import { parsePartNumber } from '../../shared/protocol/part.ts';
import { parseVersionId } from '../../shared/protocol/version-id.ts';

/** What GET and HEAD ask for. */
interface ReadInput {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
  readonly range: string | undefined;
  readonly partNumber: number | undefined;
  readonly ifRange: string | undefined;
  readonly conditions: Preconditions;
  readonly customer: CustomerKey | undefined;
  readonly showChecksum: boolean;
  readonly overrides: ReadonlyMap<string, string>;
}

/** What is answered, before the bytes. */
interface ReadOutput {
  readonly version: Version;
  readonly particulars: Particulars;
  readonly notModified: boolean;
  readonly stretch: Stretch;
}

/** What of the bytes is answered, and their checksum if they have one of their own. */
interface Stretch {
  /** Undefined: the whole. */
  readonly range: ByteRange | undefined;
  readonly checksum: Checksum | undefined;
}

function parseRead(request: RequestHead<'object'>): ReadInput {
  const { bucket, key, fields, query, signed, settings } = request;
  const partNumber = query.has('partNumber') ? parsePartNumber(query, settings.limits.partsPerUpload) : undefined;
  if (partNumber !== undefined && fields.has('range')) {
    throw new S3Error('InvalidRequest', {
      message: 'Cannot specify both Range header and partNumber query parameter.',
    });
  }
  return {
    bucket,
    key,
    versionId: parseVersionId(query),
    range: fields.get('range'),
    partNumber,
    ifRange: fields.get('if-range'),
    conditions: parsePreconditions(fields),
    customer: parseCustomerKey(request),
    showChecksum: fields.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED',
    overrides: responseOverrides(query, signed),
  };
}

/** Finds the version and judges conditions and range against it. */
async function locate(input: ReadInput, bucket: Bucket, { objects, contents }: Services): Promise<ReadOutput> {
  const version = await objects.find(bucket, input.key, input.versionId);
  if (version === undefined) throw new S3Error('NoSuchKey', { details: { Key: input.key } });
  if (version.marker) throw isMarker(version, input);
  checkCustomerKey(version.encryption, input.customer);
  const facts = { etag: etagOf(version), lastModified: version.lastModified };
  const verdict = judgeRead(input.conditions, facts);
  const failure = verdictError(verdict);
  if (failure) throw failure;
  const particulars = await objects.particulars(version);
  if (verdict === 'not-modified') return { version, particulars, notModified: true, stretch: whole(version) };
  if (input.partNumber !== undefined) {
    const stretch = await partOf(version, input.partNumber, contents);
    return { version, particulars, notModified: false, stretch };
  }
  const range = rangeApplies(input.ifRange, facts) ? parseRange(input.range, version.size) : undefined;
  if (range === 'unsatisfiable') throw unsatisfiableRange(input.range!, version.size);
  const stretch = range === undefined ? whole(version) : { range, checksum: undefined };
  return { version, particulars, notModified: false, stretch };
}

function whole({ checksum }: Version): Stretch {
  return { range: undefined, checksum };
}

/** One part of a multipart object; an object that was uploaded at once is its own first part. */
async function partOf(version: Version, number: number, contents: Contents): Promise<Stretch> {
  const part = await contents.part(version, number);
  if (part === undefined) {
    throw new S3Error('InvalidPart', { message: 'The requested part number is not satisfiable.' });
  }
  const { firstByte, size, checksum } = part;
  return { range: size === 0 ? undefined : { first: firstByte, last: firstByte + size - 1 }, checksum };
}

/** A current delete marker hides the object; asked for by its id, it says what can be done with it. */
function isMarker(marker: Version, { key, versionId }: ReadInput): S3Error {
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': versionIdOf(marker) };
  if (versionId === undefined) return new S3Error('NoSuchKey', { details: { Key: key }, headers });
  return new S3Error('MethodNotAllowed', {
    details: { Method: 'GET', ResourceType: 'DeleteMarker' },
    headers: { ...headers, allow: 'DELETE', 'last-modified': formatHttpDate(marker.lastModified) },
  });
}

function authoriseRead({ bucket, key, versionId }: ReadInput): readonly Question[] {
  if (versionId === undefined) return [{ action: 'GetObject', bucket, key }];
  return [{ action: 'GetObjectVersion', bucket, key, versionId }];
}

function renderRead({ version, particulars, notModified, stretch }: ReadOutput, input: ReadInput): Answer {
  if (notModified) {
    const { cacheControl, expires } = particulars.headers;
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
      ...overridden(objectFields(version, particulars), input.overrides),
      ...checksumFields(input.showChecksum ? checksum : undefined, version.partCount),
      ...(input.partNumber !== undefined && version.partCount !== undefined
        ? [['x-amz-mp-parts-count', String(version.partCount)] as const]
        : []),
      ...encryptionFields(version.encryption, input.customer),
      ['content-length', String(length)],
      ...(range ? [['content-range', contentRange(range, version.size)] as const] : []),
    ],
  };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export const getObject = defineOperation({
  name: 'GetObject',
  on: 'object',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  parse: parseRead,
  authorise: authoriseRead,
  act: async (input, context) => {
    const found = await locate(input, context.bucket, context);
    const body = found.notModified
      ? undefined
      : await context.contents.read(found.version, found.stretch.range, input.customer?.key);
    return { found, body };
  },
  render: ({ found, body }, input) => ({ ...renderRead(found, input), ...(body && { body }) }),
});

/** As GetObject without the bytes: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
export const headObject = defineOperation({
  name: 'HeadObject',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse: parseRead,
  authorise: authoriseRead,
  act: (input, context) => locate(input, context.bucket, context),
  render: renderRead,
});
