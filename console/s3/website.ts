import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml, type Tree, type Xml } from './xml.ts';

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
  return xml && websiteOf(xml);
}

function websiteOf(xml: Xml): Website {
  const redirect = xml.find('RedirectAllRequestsTo');
  if (redirect !== undefined) {
    return { kind: 'redirect', host: redirect.textOf('HostName'), protocol: redirect.textOf('Protocol') };
  }
  return {
    kind: 'pages',
    index: xml.find('IndexDocument')?.textOf('Suffix') ?? '',
    error: xml.find('ErrorDocument')?.textOf('Key') ?? '',
    rules: xml.find('RoutingRules')?.all('RoutingRule').map(ruleOf) ?? [],
  };
}

function ruleOf(xml: Xml): RedirectRule {
  const condition = xml.find('Condition');
  const redirect = xml.find('Redirect');
  return {
    prefix: condition?.textOf('KeyPrefixEquals') ?? '',
    errorCode: condition?.textOf('HttpErrorCodeReturnedEquals') ?? '',
    protocol: redirect?.textOf('Protocol') ?? '',
    host: redirect?.textOf('HostName') ?? '',
    replacePrefix: redirect?.optional('ReplaceKeyPrefixWith'),
    replaceKey: redirect?.textOf('ReplaceKeyWith') ?? '',
    code: redirect?.textOf('HttpRedirectCode') ?? '',
  };
}

/** Sets the website configuration, which turns the website on. @throws S3Failure InvalidArgument, InvalidRequest, … */
export async function putWebsite(client: S3Client, bucket: string, website: Website): Promise<void> {
  const body = writeXml(['WebsiteConfiguration', treesOf(website)]);
  await client.send({ method: 'PUT', bucket, query, body });
}

/** Removes the website configuration, which turns the website off. */
export async function deleteWebsite(client: S3Client, bucket: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, query });
}

function treesOf(website: Website): readonly (Tree | undefined)[] {
  if (website.kind === 'redirect') {
    return [['RedirectAllRequestsTo', [['HostName', website.host], unlessEmpty('Protocol', website.protocol)]]];
  }
  const { index, error, rules } = website;
  return [
    ['IndexDocument', [['Suffix', index]]],
    error === '' ? undefined : ['ErrorDocument', [['Key', error]]],
    rules.length === 0 ? undefined : ['RoutingRules', rules.map(ruleTree)],
  ];
}

function ruleTree(rule: RedirectRule): Tree {
  const condition = [
    unlessEmpty('KeyPrefixEquals', rule.prefix),
    unlessEmpty('HttpErrorCodeReturnedEquals', rule.errorCode),
  ];
  return [
    'RoutingRule',
    [
      condition.some((each) => each !== undefined) ? ['Condition', condition] : undefined,
      [
        'Redirect',
        [
          unlessEmpty('Protocol', rule.protocol),
          unlessEmpty('HostName', rule.host),
          rule.replacePrefix === undefined ? undefined : ['ReplaceKeyPrefixWith', rule.replacePrefix],
          unlessEmpty('ReplaceKeyWith', rule.replaceKey),
          unlessEmpty('HttpRedirectCode', rule.code),
        ],
      ],
    ],
  ];
}

const unlessEmpty = (name: string, text: string): Tree | undefined => (text === '' ? undefined : [name, text]);
