import type { Target } from '../http/address.ts';
import type { QueryParameter } from '../http/query.ts';
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
 * The ways in which clients write down the resource of a request, the likely one first, as text whose characters are
 * bytes: bucket, path as sent, and the signed parameters in the order of their names.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#ConstructingTheCanonicalizedResourceElement
 *
 * Amazon's clients for Python sign every value decoded; that for JavaScript signs those of sub-resources as they were sent.
 * An empty value may stand with its equals sign or without.
 */
export function canonicalResources(target: Target): readonly string[] {
  const queries = canonicalQueries(target);
  return canonicalPaths(target).flatMap((path) => queries.map((query) => path + query));
}

function canonicalPaths({ address, rawPath, virtualHost }: Target): readonly string[] {
  const bucket = virtualHost && 'bucket' in address ? `/${address.bucket}` : '';
  const asSent = visibleAscii.test(rawPath) ? [rawPath] : [];
  const paths = [...new Set([...asSent, canonicalUri(rawPath)])].map((path) => bucket + path);
  // Amazon's client for Python signs `/bucket/`, and sends `/bucket`.
  return address.kind === 'bucket' && !rawPath.endsWith('/') ? [...paths, ...paths.map((path) => `${path}/`)] : paths;
}

function canonicalQueries({ query }: Target): readonly string[] {
  const signed = query.parameters.filter(({ name }) => isSignedByV2(name)).toSorted(byName);
  if (signed.length === 0) return [''];
  const decoded = (ofNothing: '' | '='): string[] => signed.map((one) => pair(one, bytesOf(one.value), ofNothing));
  const asSent = signed.map((one) => pair(one, bytesOf(responseHeaders.has(one.name) ? one.value : one.rawValue), ''));
  return [...new Set([decoded(''), decoded('='), asSent].map((pairs) => `?${pairs.join('&')}`))];
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
