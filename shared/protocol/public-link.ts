import { attachment, baseName, fileNameOf } from '../http/fields/content-disposition.ts';
import { publicLinkPath } from '../http/reserved-paths.ts';
import type { RequestHead } from './operation.ts';

type Field = readonly [name: string, value: string];

/** Returns the URL of a link, whose last segment is the secret. @param base without a trailing slash */
export function publicLinkUrl(base: string, token: string): string {
  return `${base}${publicLinkPath}${token}`;
}

/** Returns the token in the path of a request, without checking it. */
export function tokenOf(path: string): string {
  return path.slice(publicLinkPath.length);
}

/** Returns the URL of the deployment: as configured, otherwise from the request's host without the bucket's label. */
export function baseUrl({ settings, secure, fields, virtualHost, bucket }: RequestHead<'bucket'>): string {
  if (settings.publicUrl !== undefined) return settings.publicUrl;
  const host = fields.get('host') ?? '';
  return `${secure ? 'https' : 'http'}://${virtualHost ? host.slice(bucket.length + 1) : host}`;
}

/** Media types that browsers display without running scripts. All others are downloaded. */
const harmless =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|tiff|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/[a-z0-9.+-]+|text\/(?:plain|csv)|application\/json)$/;

/** Tells whether browsers may display this type. A missing or ambiguous type may not be displayed. */
export function isHarmless(contentType: string | undefined): boolean {
  const [essence = ''] = (contentType ?? '').split(';');
  return harmless.test(essence.trim().toLowerCase());
}

/**
 * Returns the headers of a read through a link. Users who follow a link have not chosen to trust its object: no script
 * in it runs, browsers must not guess another type, and types that may contain scripts are downloaded. Caches must not
 * store the response, since links can be revoked.
 */
export function publicFields(fields: Iterable<Field>, key: string, contentType: string | undefined): readonly Field[] {
  const kept = [...fields].filter(([name]) => name !== 'cache-control' && name !== 'expires');
  return [
    ...(isHarmless(contentType) ? kept : saved(kept, key)),
    ['cache-control', 'private, no-cache'],
    ['content-security-policy', 'sandbox'],
    ['x-content-type-options', 'nosniff'],
  ];
}

/** Returns the headers for a download under the name in the object's disposition, or otherwise its key. */
function saved(fields: readonly Field[], key: string): readonly Field[] {
  const given = fields.find(([name]) => name === 'content-disposition')?.[1] ?? '';
  const name = fileNameOf(given) ?? baseName(key) ?? 'download';
  return [...fields.filter(([field]) => field !== 'content-disposition'), ['content-disposition', attachment(name)]];
}
