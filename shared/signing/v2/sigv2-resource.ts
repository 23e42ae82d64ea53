import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { Query, QueryParameter } from '../../http/query.ts';
import { canonicalUri, visibleAscii } from '../v4/canonical-request.ts';

/** The sub-resources that version 2 signs, with their values. Anyone can add other parameters to a request. */
const subresources: ReadonlySet<string> = new Set([
  'accelerate',
  'acl',
  'analytics',
  'cors',
  'defaultObjectAcl',
  'delete',
  'inventory',
  'lifecycle',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'partNumber',
  'policy',
  'replication',
  'requestPayment',
  'restore',
  'select',
  'select-type',
  'storageClass',
  'tagging',
  'torrent',
  'uploadId',
  'uploads',
  'versionId',
  'versioning',
  'versions',
  'website',
]);

/** Parameters that set a header of the response. Clients agree on signing their decoded values. */
const responseHeaders: ReadonlySet<string> = new Set([
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
]);

/** Tells whether a V2 signature covers a query parameter. Names are case-sensitive. */
export function isSignedByV2(name: string): boolean {
  return subresources.has(name) || responseHeaders.has(name);
}

/**
 * Parameters that operations read although V2 signatures do not cover them: listings need them, and V2 has no other way
 * to pass them. The holder of a presigned listing URL can therefore list anything that its signer may list.
 */
export const mayBeUnsignedByV2: ReadonlySet<string> = new Set([
  'allow-unordered',
  'bucket-region',
  'continuation-token',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'key-marker',
  'list-type',
  'marker',
  'max-buckets',
  'max-keys',
  'max-parts',
  'max-uploads',
  'part-number-marker',
  'prefix',
  'start-after',
  'upload-id-marker',
  'version-id-marker',
]);

/** Tells whether an operation may read a query parameter of a V2 request. Unsigned parameters never affect a write. */
export function isReadByV2(method: string, name: string): boolean {
  return isSignedByV2(name) || ((method === 'GET' || method === 'HEAD') && mayBeUnsignedByV2.has(name));
}

/**
 * Returns the forms in which clients may have signed the resource of a request, the most likely first, as text whose
 * characters are bytes: bucket, path as sent, and the signed parameters sorted by name.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#ConstructingTheCanonicalizedResourceElement
 *
 * Amazon's SDK for Python signs all values decoded; the one for JavaScript signs those of sub-resources as sent. An
 * empty value may be signed with or without its equals sign.
 *
 * @throws S3Error InvalidRequest for a value that would be signed like additional parameters
 */
export function canonicalResources(target: Target): readonly string[] {
  const queries = canonicalQueries(target.query);
  return canonicalPaths(target).flatMap((path) => queries.map((query) => path + query));
}

function canonicalPaths({ address, rawPath, virtualHost }: Target): readonly string[] {
  const bucket = virtualHost && 'bucket' in address ? `/${address.bucket}` : '';
  const asSent = visibleAscii.test(rawPath) ? [rawPath] : [];
  const paths = [...new Set([...asSent, canonicalUri(rawPath)])].map((path) => bucket + path);
  // Amazon's SDK for Python signs `/bucket/` but sends `/bucket`.
  return address.kind === 'bucket' && !rawPath.endsWith('/') ? [...paths, ...paths.map((path) => `${path}/`)] : paths;
}

function canonicalQueries({ parameters, plus }: Query): readonly string[] {
  const signed = parameters.filter(({ name }) => isSignedByV2(name)).toSorted(byName);
  if (signed.length === 0) return [''];
  signed.forEach(refuseFurtherParameters);
  const decoded = (ofNothing: '' | '='): string[] => signed.map((one) => pair(one, bytesOf(one.value), ofNothing));
  const asSent = signed.map((one) => pair(one, bytesOf(responseHeaders.has(one.name) ? one.value : one.rawValue), ''));
  // A client that signed a bare plus meant a plus.
  const isMeant = plus === '+' || !signed.some(({ rawValue }) => rawValue.includes('+'));
  return [...new Set([decoded(''), decoded('='), ...(isMeant ? [asSent] : [])].map((pairs) => `?${pairs.join('&')}`))];
}

/**
 * Rejects a value that looks like additional parameters. Since values are signed decoded, `partNumber=1%26uploadId%3Dx`
 * has the same signature as `partNumber=1&uploadId=x`, which is another operation. Only the latter is accepted.
 */
function refuseFurtherParameters({ name, value }: QueryParameter): void {
  const [, ...pieces] = value.split('&');
  const further = pieces.map((piece) => piece.split('=', 1)[0]!).find((one) => one >= name && isSignedByV2(one));
  if (further === undefined) return;
  throw new S3Error('InvalidRequest', {
    message: `Signature version 2 cannot distinguish the value of ${name} from the parameter ${further}. Please use AWS4-HMAC-SHA256.`,
  });
}

function pair({ name }: QueryParameter, value: string, ofNothing: '' | '='): string {
  return value === '' ? name + ofNothing : `${name}=${value}`;
}

function byName(a: QueryParameter, b: QueryParameter): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Returns the UTF-8 bytes of a text, one per character. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
