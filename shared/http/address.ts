import { S3Error } from '../errors/s3-error.ts';
import { Query } from './query.ts';
import { isReservedPath } from './reserved-paths.ts';

/** The resource that a request addresses. Determined by the Host header and the path alone, never by the method. */
export type Address =
  | { readonly kind: 'service' }
  | { readonly kind: 'bucket'; readonly bucket: string }
  | { readonly kind: 'object'; readonly bucket: string; readonly key: string }
  /** A bucket's static website on its own host name. `host` has no port, `path` is raw. */
  | { readonly kind: 'website'; readonly bucket: string; readonly path: string; readonly host: string }
  /** Stillage's own resources under `/_stillage` and `/_public`, which cannot be bucket names. `path` is raw. */
  | { readonly kind: 'internal'; readonly path: string };

/** The host names of the service, without ports. */
export interface HostNames {
  /** Buckets may be addressed as `<bucket>.<domain>`. */
  readonly domain: string;
  /** Websites are served at `<bucket>.<websiteDomain>`. */
  readonly websiteDomain: string;
}

/** A parsed request target. */
export interface Target {
  readonly address: Address;
  /** The raw path as sent, without the query. */
  readonly rawPath: string;
  readonly query: Query;
  /** True if the Host header names the bucket. */
  readonly virtualHost: boolean;
}

/**
 * Parses the raw target and the Host header. Decodes percent escapes once and keeps `+` as a plus sign. Never
 * normalises the path: `//`, `.` and `..` are part of the key.
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
    // The query is for the page's own scripts; nothing here reads it.
    return { address, rawPath, query: Query.empty, virtualHost: true };
  }
  const query = Query.parse(rawQuery);
  const virtualBucket = subdomain(hostName, names.domain);
  if (virtualBucket !== undefined) {
    return { address: within(virtualBucket, rawPath.slice(1)), rawPath, query, virtualHost: true };
  }
  if (isReservedPath(rawPath)) {
    return { address: { kind: 'internal', path: rawPath }, rawPath, query, virtualHost: false };
  }
  return { address: pathStyle(rawPath), rawPath, query, virtualHost: false };
}

/**
 * Returns the path and the query of a target in absolute form, as clients behind an HTTP proxy send it (RFC 9112 §3.2.2), if its authority
 * is the Host field, byte for byte. Any other target is returned as it is, and {@link resolveTarget} refuses it.
 */
export function originForm(target: string, host: string | undefined): string {
  const scheme = /^https?:\/\//i.exec(target)?.[0];
  if (scheme === undefined || !host || !target.startsWith(host, scheme.length)) return target;
  const rest = target.slice(scheme.length + host.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : target;
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

/** Normalises a host: `Bucket.Example.com.:443` → `bucket.example.com`. An IPv6 literal keeps its brackets. */
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

/** The maximum length of a key in bytes of UTF-8, which the design of the table relies on (docs/data-layout.md). */
export const maximumKeyBytes = 1024;

/** Decodes a key in a path once, and keeps `+`. Throws as {@link resolveTarget}. */
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
 * Checks a key from another source, such as the body of DeleteObjects. Throws as {@link resolveTarget}.
 * @param maximum length in bytes, which a deployment may lower for keys to be written
 */
export function checkKey(key: string, maximum: number = maximumKeyBytes): void {
  if (key.includes('\0')) throw new S3Error('InvalidRequest', { message: 'Object keys must not contain NUL.' });
  if (Buffer.byteLength(key) > maximum) {
    throw new S3Error('InvalidObjectName', {
      message: `Object keys must be at most ${maximum} bytes of UTF-8 long.`,
    });
  }
}
