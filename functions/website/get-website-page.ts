import { S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey, decodeKey, maximumKeyBytes } from '../../shared/http/address.ts';
import { Fields } from '../../shared/http/message.ts';
import { evaluated, type Preconditions } from '../../shared/http/fields/preconditions.ts';
import type { Version } from '../../shared/storage/versions/versions.ts';
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
import type { RoutingRule, Website } from '../../shared/documents/website.ts';

/** A visitor's request for a page. */
interface PageRequest extends Visit {
  readonly bucket: string;
  readonly method: string;
  readonly fields: Fields;
  readonly conditions: Preconditions;
}

/** A redirect or a page. */
type Reply =
  | { readonly status: number; readonly location: string }
  | {
      /** Undefined: the status of a GET. */
      readonly status: number | undefined;
      readonly fields: readonly (readonly [string, string])[];
      readonly read: ReadInput;
      readonly found: ReadOutput;
      readonly body: AsyncIterable<Uint8Array> | undefined;
    };

type Pages = Exclude<Website, { readonly redirectAll: unknown }>;

/**
 * Returns a page of a bucket's website, on the website's host name. All visitors are anonymous, even with credentials,
 * and the query is ignored.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteEndpoints.html
 */
export const getWebsitePage = defineOperation({
  name: 'GetWebsitePage',
  on: 'website',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  conditions: evaluated.ofRead,
  ignoresCredentials: true,
  parse: ({ bucket, path, host, method, fields, secure }, conditions): PageRequest => ({
    ...{ bucket, host, method, fields, conditions, secure },
    key: decodeKey(path.slice(1)),
  }),
  // The website configuration decides which page is served, so `act` authorises.
  authorise: () => [],
  act: async (request, context): Promise<Reply> => {
    const website = await bucketWebsite(context.bucket, context.buckets);
    if (website === undefined) {
      throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: context.bucket.name } });
    }
    if ('redirectAll' in website) return { status: 301, location: redirectAllLocation(website.redirectAll, request) };
    const rule = findRule(website.rules, request.key);
    if (rule) return redirected(rule, request);
    try {
      return await page(request, website, context);
    } catch (error) {
      return errorReply(error, request, website, context);
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

/** @throws S3Error NoSuchKey, AccessDenied, and errors of preconditions and range */
async function page(request: PageRequest, { index }: Pages, context: PageContext): Promise<Reply> {
  const key = pageKey(request.key, index);
  checkKey(key);
  const { version, mayRead } = await lookUp(key, context);
  if (version === undefined) {
    const isFolder = !request.key.endsWith('/') && (await isReadable(`${request.key}/${index}`, context));
    if (isFolder) return { status: 302, location: folderLocation(request.key) };
  }
  if (!mayRead) throw new S3Error('AccessDenied');
  if (version === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } });
  const { headers } = await context.view.objectAttributes(version);
  if (headers.websiteRedirectLocation !== undefined) return { status: 301, location: headers.websiteRedirectLocation };
  return shown(version, readOf(request, key), request, context);
}

/** Returns the reply for an error: a rule's redirect, or the error document with the status of the error. */
async function errorReply(error: unknown, request: PageRequest, pages: Pages, context: PageContext): Promise<Reply> {
  if (!(error instanceof S3Error)) throw error;
  const rule = findRule(pages.rules, request.key, error.status);
  if (rule) return redirected(rule, request);
  if (pages.error === undefined || error.status >= 500) throw error;
  const { version, mayRead } = await lookUp(pages.error, context);
  if (version === undefined || !mayRead || version.encryption?.kind === 'customer') throw error;
  // Preconditions and range applied to the page, not to the error document.
  const plain = { ...request, fields: new Fields(), conditions: evaluated.ofRead.read(new Fields()) };
  const reply = await shown(version, readOf(plain, pages.error), request, context);
  return { ...reply, status: error.status, fields: Object.entries(error.headers) };
}

/** Returns the version, if it exists, and whether anyone may read it or, if it does not exist, may learn that. */
async function lookUp(
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
  const { version, mayRead } = await lookUp(key, context);
  return version !== undefined && mayRead;
}

async function shown(
  version: Version,
  read: ReadInput,
  { method }: PageRequest,
  context: PageContext,
): Promise<Exclude<Reply, { readonly location: string }>> {
  const found = await judgeFound(version, read, context.bucket, context);
  const body = method === 'HEAD' ? undefined : await openFound(found, read, context.contents);
  return { status: undefined, fields: [], read, found, body };
}

/** Never takes a customer's key: objects encrypted with one answer 400. */
function readOf({ bucket, fields, conditions }: PageRequest, key: string): ReadInput {
  return {
    bucket,
    key,
    versionId: undefined,
    range: fields.get('range'),
    partNumber: undefined,
    ifRange: fields.get('if-range'),
    conditions,
    customer: () => undefined,
    showChecksum: false,
    overrides: new Map(),
  };
}

function redirected(rule: RoutingRule, request: PageRequest): Reply {
  return { status: rule.redirect.code ?? 301, location: ruleLocation(rule, request) };
}
