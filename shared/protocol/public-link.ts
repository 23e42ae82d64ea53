import { attachment, baseName, fileNameOf } from '../http/content-disposition.ts';
import type { RequestHead } from './operation.ts';

type Field = readonly [name: string, value: string];

/** Where links lie below the address of the deployment. */
const publicPath = '/_public/';

/** The URL of a link. Its last segment is the secret. @param base without a slash at its end */
export function publicLinkUrl(base: string, token: string): string {
  return `${base}${publicPath}${token}`;
}

/** The token in the path of a request, whatever it is. */
export function tokenOf(path: string): string {
  return path.slice(publicPath.length);
}

/** The address of the deployment: as it was set or, if it was not, as the request names it, without the bucket's label. */
export function baseUrl({ settings, secure, fields, virtualHost, bucket }: RequestHead<'bucket'>): string {
  if (settings.publicUrl !== undefined) return settings.publicUrl;
  const host = fields.get('host') ?? '';
  return `${secure ? 'https' : 'http'}://${virtualHost ? host.slice(bucket.length + 1) : host}`;
}

/** Media types that browsers show and find no script in. All others are saved, never shown. */
const harmless =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|tiff|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/[a-z0-9.+-]+|text\/(?:plain|csv)|application\/json)$/;

/** Whether what is of this type may be shown by a browser. What has no type, or one that can be read in two ways, may not. */
export function isHarmless(contentType: string | undefined): boolean {
  const [essence = ''] = (contentType ?? '').split(';');
  return harmless.test(essence.trim().toLowerCase());
}

/**
 * The fields of a read as a link answers them. Whoever follows a link did not choose to trust its object: no script in it runs, no
 * browser takes it for another type, and what could hold script is saved. Nothing between keeps it, or a link could not be ended.
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

/** Under the name that the object's own disposition gives it, or else its key. */
function saved(fields: readonly Field[], key: string): readonly Field[] {
  const given = fields.find(([name]) => name === 'content-disposition')?.[1] ?? '';
  const name = fileNameOf(given) ?? baseName(key) ?? 'download';
  return [...fields.filter(([field]) => field !== 'content-disposition'), ['content-disposition', attachment(name)]];
}
