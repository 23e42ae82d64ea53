import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import { plainText } from './plain-text.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document, type XmlElements } from './writer.ts';

type WebProtocol = 'http' | 'https';

/** The redirection of all requests. https://docs.aws.amazon.com/AmazonS3/latest/API/API_RedirectAllRequestsTo.html */
export interface RedirectAll {
  /** A host name with an optional port. */
  readonly host: string;
  /** Default: the protocol of the request. */
  readonly protocol?: WebProtocol;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_Redirect.html */
export interface Redirect {
  readonly protocol?: WebProtocol;
  readonly host?: string;
  /** Replaces the prefix in the condition. */
  readonly replacePrefix?: string;
  /** Replaces the whole key. */
  readonly replaceKey?: string;
  /** Default: 301. */
  readonly code?: number;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_RoutingRule.html */
export interface RoutingRule {
  /** The prefix of the requested key. */
  readonly prefix?: string;
  /** The status of the error response. */
  readonly errorCode?: number;
  readonly redirect: Redirect;
}

/** The website of a bucket: pages, or a redirection of all requests. */
export type Website =
  | { readonly redirectAll: RedirectAll }
  | {
      /** The suffix appended to the name of a folder. */
      readonly index: string;
      /** The key of the object shown instead of errors. */
      readonly error?: string;
      readonly rules: readonly RoutingRule[];
    };

const maximumKeyBytes = 1024;

/**
 * Reads `<WebsiteConfiguration>`. Rejects any value that could redirect to a host other than the one named, or add
 * headers to a response.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html
 * @param maximumRules the maximum number of routing rules
 * @throws S3Error MalformedXML, InvalidArgument, InvalidRequest
 */
export function readWebsiteConfiguration(body: XmlSource, maximumRules: number): Website {
  const root = readDocument(body, 'WebsiteConfiguration');
  root.onlyChildren('IndexDocument', 'ErrorDocument', 'RedirectAllRequestsTo', 'RoutingRules');
  const redirectAll = root.optional('RedirectAllRequestsTo');
  if (redirectAll !== undefined) {
    if (root.children.length === 1) return { redirectAll: readRedirectAll(redirectAll) };
    const message = 'RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.';
    throw new S3Error('InvalidArgument', { message });
  }
  const index = root.optional('IndexDocument');
  if (index === undefined) {
    const message = 'A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty';
    throw invalidArgument('IndexDocument', 'null', message);
  }
  const error = root.optional('ErrorDocument');
  return {
    index: readSuffix(index),
    ...(error && { error: readErrorKey(error) }),
    rules: readRules(root.optional('RoutingRules'), maximumRules),
  };
}

function readRedirectAll(element: XmlElement): RedirectAll {
  element.onlyChildren('HostName', 'Protocol');
  const protocol = element.optional('Protocol');
  return { host: readHost(element.one('HostName')), ...(protocol && { protocol: readProtocol(protocol) }) };
}

function readSuffix(element: XmlElement): string {
  const suffix = plainText(element.onlyChildren('Suffix').one('Suffix'));
  if (suffix === '' || suffix.includes('/') || Buffer.byteLength(suffix) > maximumKeyBytes) {
    throw invalidArgument('IndexDocument', suffix, 'The IndexDocument Suffix is not well formed');
  }
  return suffix;
}

function readErrorKey(element: XmlElement): string {
  const key = plainText(element.onlyChildren('Key').one('Key'));
  if (key === '' || Buffer.byteLength(key) > maximumKeyBytes) {
    throw invalidArgument('ErrorDocument', key, 'The ErrorDocument Key is not well formed');
  }
  return key;
}

function readRules(element: XmlElement | undefined, maximumRules: number): readonly RoutingRule[] {
  if (element === undefined) return [];
  const rules = element.onlyChildren('RoutingRule').many('RoutingRule');
  if (rules.length === 0) throw element.fault('there must be a RoutingRule');
  if (rules.length > maximumRules) {
    throw invalid(`${rules.length} routing rules provided, the number of routing rules is limited to ${maximumRules}.`);
  }
  return rules.map(readRule);
}

function readRule(rule: XmlElement): RoutingRule {
  rule.onlyChildren('Condition', 'Redirect');
  const condition = rule.optional('Condition');
  return { ...(condition && readCondition(condition)), redirect: readRedirect(rule.one('Redirect')) };
}

function readCondition(condition: XmlElement): Pick<RoutingRule, 'prefix' | 'errorCode'> {
  condition.onlyChildren('KeyPrefixEquals', 'HttpErrorCodeReturnedEquals');
  if (condition.children.length === 0) {
    throw invalid(
      "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
    );
  }
  const prefix = condition.optional('KeyPrefixEquals');
  const errorCode = condition.optional('HttpErrorCodeReturnedEquals');
  return {
    ...(prefix && { prefix: plainText(prefix) }),
    ...(errorCode && { errorCode: readStatus(errorCode, /^[45]\d\d$/, 'error', '4XX or 5XX') }),
  };
}

function readRedirect(element: XmlElement): Redirect {
  element.onlyChildren('Protocol', 'HostName', 'ReplaceKeyPrefixWith', 'ReplaceKeyWith', 'HttpRedirectCode');
  if (element.children.length === 0) throw element.fault('Redirect must not be empty');
  const [protocol, host, replacePrefix, replaceKey, code] = [
    element.optional('Protocol'),
    element.optional('HostName'),
    element.optional('ReplaceKeyPrefixWith'),
    element.optional('ReplaceKeyWith'),
    element.optional('HttpRedirectCode'),
  ];
  if (replacePrefix && replaceKey) throw invalid('You can only define ReplaceKeyPrefix or ReplaceKey but not both.');
  return {
    ...(protocol && { protocol: readProtocol(protocol) }),
    ...(host && { host: readHost(host) }),
    ...(replacePrefix && { replacePrefix: plainText(replacePrefix) }),
    ...(replaceKey && { replaceKey: plainText(replaceKey) }),
    ...(code && { code: readStatus(code, /^3(?!00)\d\d$/, 'redirect', '3XX except 300') }),
  };
}

function readStatus(element: XmlElement, valid: RegExp, kind: string, values: string): number {
  const text = plainText(element);
  if (valid.test(text)) return Number(text);
  throw invalid(`The provided HTTP ${kind} code (${text}) is not valid. Valid codes are ${values}.`);
}

function readProtocol(element: XmlElement): WebProtocol {
  const protocol = plainText(element);
  if (protocol === 'http' || protocol === 'https') return protocol;
  throw invalid(
    'Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.',
  );
}

/**
 * Reads a host and nothing else: with a path, a user or a scheme in it, a redirection could lead elsewhere than it
 * seems.
 */
function readHost(element: XmlElement): string {
  const host = plainText(element);
  if (/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host)) return host;
  throw invalid(`The host name "${host}" is not valid: it must be a name or an address, and may have a port.`);
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', { message });
}

/** Returns the response body of GetBucketWebsite. */
export function websiteDocument(website: Website, namespace: string): string {
  if ('redirectAll' in website) {
    const { host, protocol } = website.redirectAll;
    return document('WebsiteConfiguration', namespace, {
      RedirectAllRequestsTo: { HostName: host, Protocol: protocol },
    });
  }
  const { index, error, rules } = website;
  return document('WebsiteConfiguration', namespace, {
    IndexDocument: { Suffix: index },
    ErrorDocument: error === undefined ? undefined : { Key: error },
    RoutingRules: rules.length === 0 ? undefined : { RoutingRule: rules.map(ruleElements) },
  });
}

function ruleElements({ prefix, errorCode, redirect }: RoutingRule): XmlElements {
  const isConditional = prefix !== undefined || errorCode !== undefined;
  return {
    Condition: isConditional ? { KeyPrefixEquals: prefix, HttpErrorCodeReturnedEquals: errorCode } : undefined,
    Redirect: {
      Protocol: redirect.protocol,
      HostName: redirect.host,
      ReplaceKeyPrefixWith: redirect.replacePrefix,
      ReplaceKeyWith: redirect.replaceKey,
      HttpRedirectCode: redirect.code,
    },
  };
}
