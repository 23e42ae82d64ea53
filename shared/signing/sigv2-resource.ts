import { S3Error } from '../errors/s3-error.ts';
import type { Target } from '../http/address.ts';
import type { Query, QueryParameter } from '../http/query.ts';
import { canonicalUri, visibleAscii } from './canonical-request.ts';

/** The sub-resources that version 2 signs, with their values. What is not on this list anybody can add to a request. */
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

/** Parameters that set a header of the answer. Clients agree that their values are signed decoded. */
const responseHeaders: ReadonlySet<string> = new Set([
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
]);

/** Whether a signature of version 2 covers a query parameter. Names are compared with their case. */
export function isSignedByV2(name: string): boolean {
  return subresources.has(name) || responseHeaders.has(name);
}

/**
 * What operations take of a query although no signature of version 2 covers it: listings need it, and there was never another way to ask
 * for them. Whoever holds a presigned URL of a listing can list with it what they like of what its signer may list.
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

/** Whether an operation may ask for a query parameter of a request of version 2. What is not signed changes nothing that writes. */
export function isReadByV2(method: string, name: string): boolean {
  return isSignedByV2(name) || ((method === 'GET' || method === 'HEAD') && mayBeUnsignedByV2.has(name));
}

/**
 * The ways in which clients write down the resource of a request, the likely one first, as text whose characters are
 * bytes: bucket, path as sent, and the signed parameters in the order of their names.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#ConstructingTheCanonicalizedResourceElement
 *
 * Amazon's clients for Python sign every value decoded; that for JavaScript signs those of sub-resources as they were sent.
 * An empty value may stand with its equals sign or without.
 *
 * @throws S3Error InvalidRequest for a value that would be signed like further parameters
 */
export function canonicalResources(target: Target): readonly string[] {
  const queries = canonicalQueries(target.query);
  return canonicalPaths(target).flatMap((path) => queries.map((query) => path + query));
}

function canonicalPaths({ address, rawPath, virtualHost }: Target): readonly string[] {
  const bucket = virtualHost && 'bucket' in address ? `/${address.bucket}` : '';
  const asSent = visibleAscii.test(rawPath) ? [rawPath] : [];
  const paths = [...new Set([...asSent, canonicalUri(rawPath)])].map((path) => bucket + path);
  // Amazon's client for Python signs `/bucket/`, and sends `/bucket`.
  return address.kind === 'bucket' && !rawPath.endsWith('/') ? [...paths, ...paths.map((path) => `${path}/`)] : paths;
}

function canonicalQueries({ parameters, plus }: Query): readonly string[] {
  const signed = parameters.filter(({ name }) => isSignedByV2(name)).toSorted(byName);
  if (signed.length === 0) return [''];
  signed.forEach(refuseFurtherParameters);
  const decoded = (ofNothing: '' | '='): string[] => signed.map((one) => pair(one, bytesOf(one.value), ofNothing));
  const asSent = signed.map((one) => pair(one, bytesOf(responseHeaders.has(one.name) ? one.value : one.rawValue), ''));
  // Whoever signed a bare plus as such meant one.
  const isMeant = plus === '+' || !signed.some(({ rawValue }) => rawValue.includes('+'));
  return [...new Set([decoded(''), decoded('='), ...(isMeant ? [asSent] : [])].map((pairs) => `?${pairs.join('&')}`))];
}

/**
 * Values are signed decoded: `partNumber=1%26uploadId%3Dx` like `partNumber=1&uploadId=x`, which is another operation. So of the two
 * only the second is taken.
 */
function refuseFurtherParameters({ name, value }: QueryParameter): void {
  const [, ...pieces] = value.split('&');
  const further = pieces.map((piece) => piece.split('=', 1)[0]!).find((one) => one >= name && isSignedByV2(one));
  if (further === undefined) return;
  throw new S3Error('InvalidRequest', {
    message: `Signature version 2 cannot tell the value of ${name} from the parameter ${further}. Please use AWS4-HMAC-SHA256.`,
  });
}

function pair({ name }: QueryParameter, value: string, ofNothing: '' | '='): string {
  return value === '' ? name + ofNothing : `${name}=${value}`;
}

function byName(a: QueryParameter, b: QueryParameter): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The bytes of UTF-8 as characters, one each. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
