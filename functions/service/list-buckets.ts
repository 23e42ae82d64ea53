import { bucketList } from '../../shared/documents/buckets.ts';
import { invalidArgument } from '../../shared/errors/s3-error.ts';
import type { Fields } from '../../shared/http/message.ts';
import type { Query } from '../../shared/http/query.ts';
import { readListingToken, writeListingToken } from '../../shared/storage/listings/listing-token.ts';
import { defineOperation, type Answer, type Settings } from '../../shared/protocol/operation.ts';
import { consolePage } from '../../shared/xml/console-page.ts';

/** With one of them, even an empty one, S3 names the region of each bucket. */
const parameters = ['prefix', 'continuation-token', 'bucket-region', 'max-buckets'] as const;

/** Lists the buckets of the caller's project: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
export const listBuckets = defineOperation({
  name: 'ListBuckets',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ query, settings, fields, secure }) => ({
    consoleUrl: isBrowser(fields, query) ? consoleUrlFor(settings.console, fields.get('host'), secure) : undefined,
    prefix: query.get('prefix'),
    token: query.get('continuation-token'),
    region: query.get('bucket-region'),
    showRegions: parameters.some((name) => query.has(name)),
    limit: parseMaxBuckets(query, settings.limits.bucketsPerPage),
  }),

  authorise: () => [{ action: 'ListAllMyBuckets' }],

  act: async ({ prefix, token, region, showRegions, limit, consoleUrl }, { caller, buckets, settings }) => {
    if (caller.kind !== 'user')
      return { owner: { id: 'anonymous', displayName: 'anonymous' }, buckets: [], consoleUrl };
    const { id, displayName } = caller.project;
    const owner = { id, displayName };
    if (region !== undefined && region !== '' && region !== settings.region) return { owner, buckets: [] };
    const scope = ['buckets', id, prefix ?? ''];
    const after = token ? readListingToken(settings.tokenKey, scope, token).after : undefined;
    const page = await buckets.ownedBy(id, {
      limit,
      ...(prefix !== undefined && { prefix }),
      ...(after !== undefined && { after }),
    });
    const last = page.buckets.at(-1);
    return {
      owner,
      buckets: page.buckets.map(({ name, created }) => ({
        ...{ name, creationDate: created },
        region: showRegions ? settings.region : undefined,
      })),
      continuationToken:
        page.more && last ? writeListingToken(settings.tokenKey, scope, { after: last.name }) : undefined,
    };
  },

  render: ({ consoleUrl, ...output }, { prefix }, { settings }) => {
    if (consoleUrl !== undefined) return pageOf(consoleUrl, settings);
    return { xml: bucketList.write({ ...output, prefix }, settings.xmlNamespace) };
  },
});

/** Tells a browser that somebody opened `/` in from a client of the API: those do not ask for HTML. */
function isBrowser(fields: Fields, query: Query): boolean {
  return query.parameters.length === 0 && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(fields.get('accept') ?? '');
}

/** Returns the address of the console for a browser that asked `host`; undefined if there is none. */
function consoleUrlFor(console: Settings['console'], host: string | undefined, secure: boolean): string | undefined {
  if (console === undefined || 'url' in console) return console?.url;
  const asked = URL.parse(`${secure ? 'https' : 'http'}://${host ?? ''}`);
  if (asked === null || asked.username !== '' || asked.pathname !== '/') return undefined;
  asked.port = String(console.port);
  return asked.origin;
}

/** A browser is sent elsewhere only if the operator named the place: the host of the request is the client's word. */
function pageOf(url: string, settings: Settings): Answer {
  const isNamed = settings.console !== undefined && 'url' in settings.console;
  return {
    ...(isNamed && { status: 302 }),
    fields: [
      ...(isNamed ? [['location', url] as const] : []),
      ['cache-control', 'no-store'],
      ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
      ['vary', 'Accept, Authorization'],
      ['x-content-type-options', 'nosniff'],
    ],
    html: consolePage(url),
  };
}

/** @throws S3Error InvalidArgument for anything but an integer between 1 and the maximum */
function parseMaxBuckets(query: Query, maximum: number): number {
  const value = query.get('max-buckets');
  if (value === undefined || value === '') return maximum;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > maximum) {
    throw invalidArgument('max-buckets', value, `Argument max-buckets must be an integer between 1 and ${maximum}`);
  }
  return number;
}
