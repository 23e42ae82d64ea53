import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import {
  cacheControl,
  commonHeaders,
  securityHeaders,
  type ConsoleConfig,
} from '../../../shared/protocol/console/headers.ts';
import { consoleFile } from '../../../shared/protocol/console/pages.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';

/** The dependencies of the console's listener. */
export interface ConsoleSite {
  readonly files: ConsoleFiles;
  /** The origins of the console; requests for other host names are refused. */
  readonly origins: ReadonlySet<string>;
  /** Returns the configuration of the page for the origin that it was opened at. */
  readonly configAt: (origin: string) => ConsoleConfig;
  readonly telemetry: Pick<Telemetry, 'problem'>;
}

type Headers = Readonly<Record<string, string>>;

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array;
}

/** Serves the files of the console, and its configuration as `/config.json`. Has no secrets and sets no cookies. */
export function consoleListener(site: ConsoleSite): RequestListener {
  return (request, response) => {
    reply(request, site)
      .catch((error: unknown) => {
        site.telemetry.problem('reading a file of the console failed', error);
        return refusal(500, 'The file could not be read.');
      })
      .then((answer) => send(request, response, answer))
      .catch(() => response.destroy());
  };
}

async function reply(request: IncomingMessage, site: ConsoleSite): Promise<Reply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refusal(405, 'Only GET and HEAD are supported here.', { Allow: 'GET, HEAD' });
  }
  const sent = originOf(request);
  const origin = sent && originAt(sent.host, sent.protocol, site.origins);
  // Against DNS rebinding, where an attacker's host name resolves to this address.
  if (origin === undefined) {
    return refusal(
      421,
      `This is not an origin of the console. Start the service with --console-origin ${sent?.origin ?? '<origin>'}`,
    );
  }
  const config = site.configAt(origin);
  const sources = { console: origin, endpoint: new URL(config.endpoint).origin };
  const path = (request.url ?? '').split('?', 1)[0]!;
  const headers = { ...securityHeaders(path, sources), 'Cache-Control': cacheControl(path) };
  if (path === '/config.json') {
    const ofBody = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    return { status: 200, headers: { ...headers, ...ofBody }, body: `${JSON.stringify(config)}\n` };
  }
  const file = path.startsWith('/') ? await site.files.find(consoleFile(path)) : undefined;
  return file ? fileReply(file, request, headers) : refusal(404, 'There is no such file.');
}

/** Returns the origin of a request by its Host header, or undefined if the header is not a host. */
function originOf({ headers, socket }: IncomingMessage): URL | undefined {
  return URL.parse(`${'encrypted' in socket ? 'https' : 'http'}://${headers.host ?? ''}`) ?? undefined;
}

/** Returns the origin of the console with this host, whatever its protocol: a proxy may terminate TLS. */
function originAt(host: string, protocol: string, origins: ReadonlySet<string>): string | undefined {
  const urls = [...origins].map((origin) => new URL(origin)).filter((url) => url.host === host);
  return (urls.find((url) => url.protocol === protocol) ?? urls[0])?.origin;
}

function fileReply(
  { type, representations }: ConsoleFile,
  { headers: asked }: IncomingMessage,
  common: Headers,
): Reply {
  const accepted = acceptedCodings(asked['accept-encoding']);
  const { coding, bytes, etag } = representations.find((one) => one.coding === undefined || accepted.has(one.coding))!;
  const headers = { ...common, ETag: etag, ...(representations.length > 1 && { Vary: 'Accept-Encoding' }) };
  if (isKnown(asked['if-none-match'], etag)) return { status: 304, headers, body: '' };
  const ofBody = { 'Content-Type': type, ...(coding !== undefined && { 'Content-Encoding': coding }) };
  return { status: 200, headers: { ...headers, ...ofBody }, body: bytes };
}

/** Returns the codings that a client accepts: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
function acceptedCodings(field: string | string[] | undefined): ReadonlySet<string> {
  const codings = String(field ?? '')
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
function refusal(status: number, text: string, more: Headers = {}): Reply {
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

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, {
    ...headers,
    ...(status !== 304 && { 'Content-Length': Buffer.byteLength(body) }),
  });
  response.end(request.method === 'HEAD' || status === 304 ? undefined : body);
}
