import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml } from './xml.ts';
import { website as websiteType, type RoutingRule, type Website as Document } from '../../shared/documents/website.ts';

/** A routing rule of a website. Empty strings mean absent elements. */
export interface RedirectRule {
  /** Applies to keys that begin with this. */
  readonly prefix: string;
  /** Applies if the response would have this status, such as `404`. */
  readonly errorCode: string;
  readonly protocol: string;
  /** A host name, with a port if it needs one. */
  readonly host: string;
  /** Replaces the prefix, maybe by nothing; undefined: the path stays. Excludes `replaceKey`. */
  readonly replacePrefix: string | undefined;
  readonly replaceKey: string;
  /** The status of the redirect; empty: 301. */
  readonly code: string;
}

/** The website configuration of a bucket: pages, or one redirect for all requests. */
export type Website =
  | { readonly kind: 'pages'; readonly index: string; readonly error: string; readonly rules: readonly RedirectRule[] }
  | { readonly kind: 'redirect'; readonly host: string; readonly protocol: string };

const query = { website: '' };

/** Returns the website configuration, or undefined while the bucket is not a website. */
export async function getWebsite(client: S3Client, bucket: string): Promise<Website | undefined> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query }));
  return xml && websiteOf(websiteType.content.read(xml));
}

function websiteOf(document: Document): Website {
  if ('redirectAll' in document) {
    const { host, protocol = '' } = document.redirectAll;
    return { kind: 'redirect', host, protocol };
  }
  const { index, error = '', rules } = document;
  return { kind: 'pages', index, error, rules: rules.map(ruleOf) };
}

const textOf = (number: number | undefined): string => (number === undefined ? '' : String(number));

function ruleOf({ prefix = '', errorCode, redirect }: RoutingRule): RedirectRule {
  const { protocol = '', host = '', replacePrefix, replaceKey = '', code } = redirect;
  return { prefix, errorCode: textOf(errorCode), protocol, host, replacePrefix, replaceKey, code: textOf(code) };
}

/** Sets the website configuration, which turns the website on. @throws S3Failure InvalidArgument, InvalidRequest, … */
export async function putWebsite(client: S3Client, bucket: string, website: Website): Promise<void> {
  const body = writeXml(websiteType, documentOf(website));
  await client.send({ method: 'PUT', bucket, query, body });
}

/** Removes the website configuration, which turns the website off. */
export async function deleteWebsite(client: S3Client, bucket: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, query });
}

function documentOf(website: Website): Document {
  if (website.kind === 'redirect') {
    const { host, protocol } = website;
    return { redirectAll: { host, ...(isProtocol(protocol) && { protocol }) } };
  }
  const { index, error, rules } = website;
  return { index, ...(error !== '' && { error }), rules: rules.map(routingRuleOf) };
}

const isProtocol = (text: string) => text === 'http' || text === 'https';

function routingRuleOf(rule: RedirectRule): RoutingRule {
  const { prefix, errorCode, protocol, host, replacePrefix, replaceKey, code } = rule;
  return {
    ...(prefix !== '' && { prefix }),
    ...(errorCode !== '' && { errorCode: Number(errorCode) }),
    redirect: {
      ...(isProtocol(protocol) && { protocol }),
      ...(host !== '' && { host }),
      ...(replacePrefix !== undefined && { replacePrefix }),
      ...(replaceKey !== '' && { replaceKey }),
      ...(code !== '' && { code: Number(code) }),
    },
  };
}
