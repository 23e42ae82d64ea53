import { S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey, decodeKey, maximumKeyBytes } from '../../shared/http/address.ts';
import { Fields } from '../../shared/http/message.ts';
import { parsePreconditions } from '../../shared/http/preconditions.ts';
import type { Version } from '../../shared/metadata/objects/versions.ts';
import {
  judgeFound,
  openFound,
  renderRead,
  type ReadInput,
  type ReadOutput,
} from '../../shared/protocol/objects/object-read.ts';
import { defineOperation, type Context } from '../../shared/protocol/operation.ts';
import {
  bucketWebsite,
  findRule,
  folderLocation,
  pageKey,
  redirectAllLocation,
  ruleLocation,
  type Visit,
} from '../../shared/protocol/website.ts';
import type { RoutingRule, Website } from '../../shared/xml/website.ts';

/** What a visitor asks for. */
interface Wish extends Visit {
  readonly bucket: string;
  readonly method: string;
  readonly fields: Fields;
}

/** Somewhere else to go, or a page. */
type Reply =
  | { readonly status: number; readonly location: string }
  | {
      /** Undefined: that of a GET. */
      readonly status: number | undefined;
      readonly fields: readonly (readonly [string, string])[];
      readonly read: ReadInput;
      readonly found: ReadOutput;
      readonly body: AsyncIterable<Uint8Array> | undefined;
    };

type Pages = Exclude<Website, { readonly redirectAll: unknown }>;

/**
 * A page of a bucket's website, on a host name of its own. Whoever asks is anonymous, whatever else comes along, and the query
 * means nothing.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteEndpoints.html
 */
export const getWebsitePage = defineOperation({
  name: 'GetWebsitePage',
  on: 'website',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  ignoresCredentials: true,
  parse: ({ bucket, path, host, method, fields, secure }): Wish => ({
    ...{ bucket, host, method, fields, secure },
    key: decodeKey(path.slice(1)),
  }),
  // Which page it is, and so which right it takes, the configuration says.
  authorise: () => [],
  act: async (wish, context): Promise<Reply> => {
    const website = await bucketWebsite(context.bucket, context.buckets);
    if (website === undefined) {
      throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: context.bucket.name } });
    }
    if ('redirectAll' in website) return { status: 301, location: redirectAllLocation(website.redirectAll, wish) };
    const rule = findRule(website.rules, wish.key);
    if (rule) return redirected(rule, wish);
    try {
      return await page(wish, website, context);
    } catch (error) {
      return insteadOf(error, wish, website, context);
    }
  },
  render: (reply) => {
    if ('location' in reply) return { status: reply.status, fields: [['location', reply.location]] };
    const { status, fields, read, found, body } = reply;
    const answer = renderRead(found, read);
    return {
      ...answer,
      ...(status !== undefined && { status }),
      fields: [...(answer.fields ?? []), ...fields],
      ...(body && { body }),
    };
  },
});

type PageContext = Context<'website', 'none'>;

/** @throws S3Error NoSuchKey, AccessDenied, and what is wrong with conditions and range */
async function page(wish: Wish, { index }: Pages, context: PageContext): Promise<Reply> {
  const key = pageKey(wish.key, index);
  checkKey(key);
  const { version, mayRead } = await look(key, context);
  if (version === undefined) {
    const isFolder = !wish.key.endsWith('/') && (await isReadable(`${wish.key}/${index}`, context));
    if (isFolder) return { status: 302, location: folderLocation(wish.key) };
  }
  if (!mayRead) throw new S3Error('AccessDenied');
  if (version === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } });
  const { headers } = await context.view.objectAttributes(version);
  if (headers.websiteRedirectLocation !== undefined) return { status: 301, location: headers.websiteRedirectLocation };
  return shown(version, readOf(wish, key, wish.fields), wish, context);
}

/** What is answered instead of an error: where a rule leads, or the error document with the status of the error. */
async function insteadOf(error: unknown, wish: Wish, pages: Pages, context: PageContext): Promise<Reply> {
  if (!(error instanceof S3Error)) throw error;
  const rule = findRule(pages.rules, wish.key, error.status);
  if (rule) return redirected(rule, wish);
  if (pages.error === undefined || error.status >= 500) throw error;
  const { version, mayRead } = await look(pages.error, context);
  if (version === undefined || !mayRead || version.encryption?.kind === 'customer') throw error;
  // Conditions and range were of the page.
  const reply = await shown(version, readOf(wish, pages.error, new Fields()), wish, context);
  return { ...reply, status: error.status, fields: Object.entries(error.headers) };
}

/** A version, if it is there, and whether anybody may read it, or may know that it is not there. */
async function look(
  key: string,
  { view, bucket, authorise }: PageContext,
): Promise<{ readonly version: Version | undefined; readonly mayRead: boolean }> {
  let mayRead = true;
  try {
    await authorise({ action: 'GetObject', bucket: bucket.name, key });
  } catch (error) {
    if (!(error instanceof S3Error && error.code === 'AccessDenied')) throw error;
    mayRead = false;
  }
  const version = await view.find(bucket, key);
  return { version: version?.marker === true ? undefined : version, mayRead };
}

async function isReadable(key: string, context: PageContext): Promise<boolean> {
  if (Buffer.byteLength(key) > maximumKeyBytes) return false;
  const { version, mayRead } = await look(key, context);
  return version !== undefined && mayRead;
}

async function shown(
  version: Version,
  read: ReadInput,
  { method }: Wish,
  context: PageContext,
): Promise<Exclude<Reply, { readonly location: string }>> {
  const found = await judgeFound(version, read, context.bucket, context);
  const body = method === 'HEAD' ? undefined : await openFound(found, read, context.contents);
  return { status: undefined, fields: [], read, found, body };
}

/** A customer's key is never taken here: such objects answer 400. */
function readOf({ bucket }: Wish, key: string, fields: Fields): ReadInput {
  return {
    bucket,
    key,
    versionId: undefined,
    range: fields.get('range'),
    partNumber: undefined,
    ifRange: fields.get('if-range'),
    conditions: parsePreconditions(fields),
    customer: () => undefined,
    showChecksum: false,
    overrides: new Map(),
  };
}

function redirected(rule: RoutingRule, wish: Wish): Reply {
  return { status: rule.redirect.code ?? 301, location: ruleLocation(rule, wish) };
}
