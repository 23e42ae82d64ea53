import { encodeName } from '../http/url-encoding.ts';
import type { Bucket } from '../metadata/buckets/bucket.ts';
import type { Buckets } from '../metadata/buckets/buckets.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';
import type { Redirect, RedirectAll, RoutingRule, Website } from '../xml/website.ts';

/*
 * Websites of buckets: https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteHosting.html
 *
 * Where a visitor is sent is made of the bucket's configuration and of the deployment's, never of the Host header.
 */

/** How a visitor came. */
export interface Visit {
  /** The name of the website, as the deployment has it, without a port: `<bucket>.<website domain>`. */
  readonly host: string;
  readonly secure: boolean;
  /** The decoded path without its slash: `''`, `a/b.html`, `folder/`. */
  readonly key: string;
}

/** The key of the page that a path means: that of a folder is its index. */
export function pageKey(key: string, index: string): string {
  return key === '' || key.endsWith('/') ? key + index : key;
}

/**
 * The first routing rule for a request, or undefined.
 * @param error the status of the error that the answer would be; undefined before anything is read, when only those rules
 *   apply that do not ask for an error
 */
export function findRule(rules: readonly RoutingRule[], key: string, error?: number): RoutingRule | undefined {
  return rules.find(({ prefix = '', errorCode }) => errorCode === error && key.startsWith(prefix));
}

/** Where a rule sends a visitor. A rule that names neither host nor protocol stays on the website. */
export function ruleLocation({ prefix = '', redirect }: RoutingRule, { host, secure, key }: Visit): string {
  const path = redirectedPath(redirect, prefix, key);
  if (redirect.host === undefined && redirect.protocol === undefined) return samePlace(path);
  const protocol = redirect.protocol ?? (secure ? 'https' : 'http');
  return `${protocol}://${redirect.host ?? host}/${path}`;
}

/** Where a website sends everybody. */
export function redirectAllLocation({ host, protocol }: RedirectAll, { secure, key }: Visit): string {
  return `${protocol ?? (secure ? 'https' : 'http')}://${host}/${encodeName(key)}`;
}

/** Where a visitor is sent who left out the slash of a folder. */
export function folderLocation(key: string): string {
  return samePlace(`${encodeName(key)}/`);
}

/** What the owner wrote may be more than a path: `?` and `#` keep their meaning. What the visitor wrote is a name. */
function redirectedPath({ replaceKey, replacePrefix }: Redirect, prefix: string, key: string): string {
  if (replaceKey !== undefined) return encodeURI(replaceKey);
  if (replacePrefix !== undefined) return encodeURI(replacePrefix) + encodeName(key.slice(prefix.length));
  return encodeName(key);
}

/** A path on the same host. Two slashes at its beginning would name another one. */
function samePlace(path: string): string {
  return `/${path.replace(/^\//, '%2F')}`;
}

/** The website configuration of a bucket, or undefined if it has none. */
export async function bucketWebsite(bucket: Bucket, buckets: Buckets): Promise<Website | undefined> {
  const found = await buckets.documents.of(bucket, 'website');
  return found as Stored<Website> | undefined;
}

/** A website configuration as it is stored. */
export function storedWebsite(website: Website): Attributes {
  const stored: Stored<Website> = website;
  return stored;
}
