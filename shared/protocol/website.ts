import type { Redirect, RedirectAll, RoutingRule, Website } from '../documents/website.ts';
import { encodeName } from '../http/url-encoding.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';

/*
 * Websites of buckets: https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteHosting.html
 *
 * Redirects are built from the configuration of the bucket and of the deployment, never from the Host header.
 */

/** A visit to a website. */
export interface Visit {
  /** The website's host name according to the deployment, without a port: `<bucket>.<website domain>`. */
  readonly host: string;
  readonly secure: boolean;
  /** The decoded path without the leading slash: `''`, `a/b.html`, `folder/`. */
  readonly key: string;
}

/** Returns the key of the page for a path: for a folder, its index. */
export function pageKey(key: string, index: string): string {
  return key === '' || key.endsWith('/') ? key + index : key;
}

/**
 * Returns the first routing rule for a request, or undefined.
 * @param error the status of the error response; undefined before anything is read, when only rules without an error
 *   code apply
 */
export function findRule(rules: readonly RoutingRule[], key: string, error?: number): RoutingRule | undefined {
  return rules.find(({ prefix = '', errorCode }) => errorCode === error && key.startsWith(prefix));
}

/** Returns the redirect location of a rule. A rule without host and protocol stays on the website. */
export function ruleLocation({ prefix = '', redirect }: RoutingRule, { host, secure, key }: Visit): string {
  const path = redirectedPath(redirect, prefix, key);
  if (redirect.host === undefined && redirect.protocol === undefined) return samePlace(path);
  const protocol = redirect.protocol ?? (secure ? 'https' : 'http');
  return `${protocol}://${redirect.host ?? host}/${path}`;
}

/** Returns the location to which a website redirects all requests. */
export function redirectAllLocation({ host, protocol }: RedirectAll, { secure, key }: Visit): string {
  return `${protocol ?? (secure ? 'https' : 'http')}://${host}/${encodeName(key)}`;
}

/** Returns the redirect location for a folder requested without its trailing slash. */
export function folderLocation(key: string): string {
  return samePlace(`${encodeName(key)}/`);
}

/**
 * Returns the path of a redirect. The owner's text may be more than a path: `?` and `#` keep their meaning. The
 * visitor's text is a name and is escaped.
 */
function redirectedPath({ replaceKey, replacePrefix }: Redirect, prefix: string, key: string): string {
  if (replaceKey !== undefined) return encodeURI(replaceKey);
  if (replacePrefix !== undefined) return encodeURI(replacePrefix) + encodeName(key.slice(prefix.length));
  return encodeName(key);
}

/** Returns a path on the same host. Two leading slashes would name another host. */
function samePlace(path: string): string {
  return `/${path.replace(/^\//, '%2F')}`;
}

/** Returns the website configuration of a bucket, or undefined if it has none. */
export async function bucketWebsite(bucket: Bucket, buckets: Buckets): Promise<Website | undefined> {
  const found = await buckets.documents.of(bucket, 'website');
  return found as Stored<Website> | undefined;
}

/** Returns a website configuration in its stored form. */
export function storedWebsite(website: Website): Attributes {
  const stored: Stored<Website> = website;
  return stored;
}
