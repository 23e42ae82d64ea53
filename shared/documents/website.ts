import { plainText } from './plain-text.ts';
import {
  checked,
  documentType,
  elements,
  list,
  mapped,
  one,
  only,
  optional,
  type Content,
  type ValueOf,
} from './schema.ts';
import { utf8Length } from './text.ts';

const maximumKeyBytes = 1024;

const protocol = checked(plainText, (text, element) => {
  if (text === 'http' || text === 'https') return;
  throw element.invalid(
    'Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.',
  );
}) as Content<'http' | 'https'>;

/**
 * A host and nothing else, with an optional port: with a path, a user or a scheme in it, a redirection could lead
 * elsewhere than it seems.
 */
const host = checked(plainText, (text, element) => {
  if (/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(text)) return;
  throw element.invalid(`The host name "${text}" is not valid: it must be a name or an address, and may have a port.`);
});

const status = (valid: RegExp, kind: string, values: string): Content<number> =>
  mapped(
    checked(plainText, (text, element) => {
      if (valid.test(text)) return;
      throw element.invalid(`The provided HTTP ${kind} code (${text}) is not valid. Valid codes are ${values}.`);
    }),
    Number,
    String,
  );

/** Where a request without a protocol stays: with that of the request. */
const redirectAll = elements({ host: one('HostName', host), protocol: optional('Protocol', protocol) });
/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_RedirectAllRequestsTo.html */
export type RedirectAll = ValueOf<typeof redirectAll>;

const redirect = checked(
  elements({
    protocol: optional('Protocol', protocol),
    host: optional('HostName', host),
    /** Replaces the prefix in the condition. */
    replacePrefix: optional('ReplaceKeyPrefixWith', plainText),
    /** Replaces the whole key. */
    replaceKey: optional('ReplaceKeyWith', plainText),
    /** Default: 301. */
    code: optional('HttpRedirectCode', status(/^3(?!00)\d\d$/, 'redirect', '3XX except 300')),
  }),
  ({ replacePrefix, replaceKey }, element) => {
    if (element.children.length === 0) throw element.fault('Redirect must not be empty');
    if (replacePrefix === undefined || replaceKey === undefined) return;
    throw element.invalid('You can only define ReplaceKeyPrefix or ReplaceKey but not both.');
  },
);
/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_Redirect.html */
export type Redirect = ValueOf<typeof redirect>;

const condition = checked(
  elements({
    /** The prefix of the requested key. */
    prefix: optional('KeyPrefixEquals', plainText),
    /** The status of the error response. */
    errorCode: optional('HttpErrorCodeReturnedEquals', status(/^[45]\d\d$/, 'error', '4XX or 5XX')),
  }),
  (_, element) => {
    if (element.children.length > 0) return;
    throw element.invalid(
      "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
    );
  },
);

const rule = mapped(
  elements({ condition: optional('Condition', condition), redirect: one('Redirect', redirect) }),
  ({ condition, redirect }) => ({ ...condition, redirect }),
  ({ redirect, ...condition }) => ({ ...(Object.keys(condition).length > 0 && { condition }), redirect }),
);
/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_RoutingRule.html */
export type RoutingRule = ValueOf<typeof rule>;

/** The name of an object in an element of its own. */
const nameOf = (element: string, named: string, isValid: (name: string) => boolean): Content<string> =>
  only(
    named,
    checked(plainText, (name, child) => {
      if (name !== '' && isValid(name) && utf8Length(name) <= maximumKeyBytes) return;
      throw child.invalidArgument(`The ${element} ${named} is not well formed`, element);
    }),
  );

const written = elements({
  redirectAll: optional('RedirectAllRequestsTo', redirectAll),
  index: optional(
    'IndexDocument',
    nameOf('IndexDocument', 'Suffix', (suffix) => !suffix.includes('/')),
  ),
  error: optional(
    'ErrorDocument',
    nameOf('ErrorDocument', 'Key', () => true),
  ),
  rules: optional('RoutingRules', list('RoutingRule', rule, 1)),
});

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

/**
 * Refuses any value that could redirect to a host other than the one named, or add headers to a response.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html
 */
export const website = documentType(
  'WebsiteConfiguration',
  mapped(
    checked(written, ({ redirectAll, index }, root) => {
      if (redirectAll !== undefined && root.children.length > 1) {
        const message = 'RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.';
        throw root.refusal('InvalidArgument', message);
      }
      if (redirectAll !== undefined || index !== undefined) return;
      const message = 'A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty';
      throw root.invalidArgument(message, 'IndexDocument', 'null');
    }),
    ({ redirectAll, index = '', rules = [], ...others }): Website =>
      redirectAll === undefined ? { index, ...others, rules } : { redirectAll },
    (website) => {
      if ('redirectAll' in website) return website;
      const { rules, ...others } = website;
      return { ...others, ...(rules.length > 0 && { rules }) };
    },
  ),
);
