import { S3Error } from '../errors/s3-error.ts';
import { Query } from './query.ts';

/** What a request speaks of. Which it is follows from the Host and the path alone, never from the method. */
export type Address =
  | { readonly kind: 'service' }
  | { readonly kind: 'bucket'; readonly bucket: string }
  | { readonly kind: 'object'; readonly bucket: string; readonly key: string }
  /** The static website of a bucket, on its own host name, which `host` is without a port. `path` is raw. */
  | { readonly kind: 'website'; readonly bucket: string; readonly path: string; readonly host: string }
  /** Stillage's own resources below `/_stillage` and `/_public`; no bucket name begins so. `path` is raw. */
  | { readonly kind: 'internal'; readonly path: string };

/** The host names the service answers to, without port. */
export interface HostNames {
  /** Buckets may be addressed as `<bucket>.<domain>`. */
  readonly domain: string;
  /** Websites are served at `<bucket>.<websiteDomain>`. */
  readonly websiteDomain: string;
}

/** A request target taken apart. */
export interface Target {
  readonly address: Address;
  /** The raw path as sent, without the query. */
  readonly rawPath: string;
  readonly query: Query;
  /** Whether the bucket was named by the Host header. */
  readonly virtualHost: boolean;
}

const reservedSegments = /^\/_(?:stillage|public)(?:\/|$)/;

/**
 * Takes the raw target and the Host header apart. Percent escapes are decoded once, `+` stays a plus, and `//`, `.` and
 * `..` stay characters of the key: a path is never normalised.
 * Virtual hosting: https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 *
 * @throws S3Error InvalidURI, InvalidObjectName (invalid UTF-8, more than 1,024 bytes), InvalidRequest (NUL)
 */
export function resolveTarget(rawTarget: string, host: string | undefined, names: HostNames): Target {
  if (!rawTarget.startsWith('/')) throw new S3Error('InvalidURI');
  const mark = rawTarget.indexOf('?');
  const rawPath = mark < 0 ? rawTarget : rawTarget.slice(0, mark);
  const rawQuery = mark < 0 ? '' : rawTarget.slice(mark + 1);

  const hostName = bareHostName(host);
  const website = subdomain(hostName, names.websiteDomain);
  if (website !== undefined) {
    const address = {
      kind: 'website',
      bucket: website,
      path: rawPath,
      host: `${website}.${names.websiteDomain}`,
    } as const;
    // The query of a page is the page's own: nothing in it means anything here.
    return { address, rawPath, query: Query.empty, virtualHost: true };
  }
  const query = Query.parse(rawQuery);
  if (reservedSegments.test(rawPath)) {
    return { address: { kind: 'internal', path: rawPath }, rawPath, query, virtualHost: false };
  }
  const virtualBucket = subdomain(hostName, names.domain);
  if (virtualBucket !== undefined) {
    return { address: within(virtualBucket, rawPath.slice(1)), rawPath, query, virtualHost: true };
  }
  return { address: pathStyle(rawPath), rawPath, query, virtualHost: false };
}

function pathStyle(rawPath: string): Address {
  if (rawPath === '/') return { kind: 'service' };
  const slash = rawPath.indexOf('/', 1);
  if (slash < 0) return { kind: 'bucket', bucket: decodeBucket(rawPath.slice(1)) };
  return within(decodeBucket(rawPath.slice(1, slash)), rawPath.slice(slash + 1));
}

function within(bucket: string, rawKey: string): Address {
  return rawKey === '' ? { kind: 'bucket', bucket } : { kind: 'object', bucket, key: decodeKey(rawKey) };
}

/** `Bucket.Example.com.:443` → `bucket.example.com`; an IPv6 literal keeps its brackets. */
function bareHostName(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function subdomain(hostName: string, domain: string): string | undefined {
  const suffix = `.${domain}`;
  return hostName.length > suffix.length && hostName.endsWith(suffix) ? hostName.slice(0, -suffix.length) : undefined;
}

function decodeBucket(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch (cause) {
    throw new S3Error('InvalidURI', { cause });
  }
}

const badEscape = /%(?![0-9A-Fa-f]{2})/;

/** The most bytes of UTF-8 that a key can have: the table is cut to it (docs/data-layout.md). */
export const maximumKeyBytes = 1024;

/** Decodes a key as it stands in a path or in x-amz-copy-source: once, and `+` is a plus. Throws as {@link resolveTarget}. */
export function decodeKey(raw: string): string {
  if (badEscape.test(raw)) throw new S3Error('InvalidURI');
  let key: string;
  try {
    key = decodeURIComponent(raw);
  } catch (cause) {
    throw new S3Error('InvalidObjectName', { cause });
  }
  checkKey(key);
  return key;
}

/**
 * Checks a key that came in some other way, such as the body of DeleteObjects. Throws as {@link resolveTarget}.
 * @param maximum of its bytes: fewer for a key that is to be written, if the deployment has set it so
 */
export function checkKey(key: string, maximum: number = maximumKeyBytes): void {
  if (key.includes('\0')) throw new S3Error('InvalidRequest', { message: 'Object keys must not contain NUL.' });
  if (Buffer.byteLength(key) > maximum) {
    throw new S3Error('InvalidObjectName', {
      message: `Object keys are at most ${maximum} bytes of UTF-8 long.`,
    });
  }
}
