import { commonHeaders } from '../../../shared/protocol/console/headers.ts';
import type { ConsoleFile } from './console-files.ts';

export type Headers = Readonly<Record<string, string>>;

/** A response, which a HEAD gets without its body. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array;
}

/** What a client has and can read, as its header fields say. */
interface Conditions {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Returns a file in the best coding that the client accepts, unless the client has it. */
export function fileReply(
  { type, representations }: ConsoleFile,
  { acceptEncoding, ifNoneMatch }: Conditions,
  common: Headers,
): Reply {
  const accepted = acceptedCodings(acceptEncoding);
  const { coding, bytes, etag } = representations.find((one) => one.coding === undefined || accepted.has(one.coding))!;
  const headers = { ...common, ETag: etag, ...(representations.length > 1 && { Vary: 'Accept-Encoding' }) };
  if (isKnown(ifNoneMatch, etag)) return { status: 304, headers, body: '' };
  const ofBody = { 'Content-Type': type, ...(coding !== undefined && { 'Content-Encoding': coding }) };
  return { status: 200, headers: { ...headers, ...ofBody }, body: bytes };
}

/** Returns the codings that a client accepts: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
function acceptedCodings(field: string | undefined): ReadonlySet<string> {
  const codings = (field ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()));
  return new Set(codings.filter(([, weight]) => !/^q=0(?:\.0*)?$/.test(weight ?? '')).map(([name]) => name!));
}

/** Returns whether an `If-None-Match` matches an entity tag: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2 */
function isKnown(field: string | undefined, etag: string): boolean {
  const tags = (field ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

/** Returns an error as plain text. */
export function refusal(status: number, text: string, more: Headers = {}): Reply {
  const headers = {
    ...commonHeaders,
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Content-Type': 'text/plain; charset=utf-8',
    ...more,
  };
  return { status, headers, body: `${text}\n` };
}
