import { encodeName } from '../../http/url-encoding.ts';
import type { RequestHead } from '../operation.ts';

/** Returns the URL of an object, in the style and at the host used to address its bucket. */
export function objectUrl({ secure, fields, virtualHost, bucket }: RequestHead<'bucket'>, key: string): string {
  const root = `${secure ? 'https' : 'http'}://${fields.get('host') ?? ''}`;
  return `${root}${virtualHost ? '' : `/${bucket}`}/${encodeName(key)}`;
}
