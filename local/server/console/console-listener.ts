import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { cacheControl, securityHeaders, type ConsoleConfig } from '../../../shared/protocol/console/headers.ts';
import { consoleFile } from '../../../shared/protocol/console/pages.ts';
import type { ConsoleFiles } from './console-files.ts';
import { fileReply, refusal, type Reply } from './file-reply.ts';

/** The dependencies of the console's listener. */
export interface ConsoleSite {
  readonly files: ConsoleFiles;
  /** The origins of the console; requests for other host names are refused. */
  readonly origins: ReadonlySet<string>;
  /** Returns the configuration of the page for the origin that it was opened at. */
  readonly configAt: (origin: string) => ConsoleConfig;
  readonly telemetry: Pick<Telemetry, 'problem'>;
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
  const { 'accept-encoding': coding, 'if-none-match': ifNoneMatch } = request.headers;
  const acceptEncoding = coding === undefined ? undefined : String(coding);
  return file ? fileReply(file, { acceptEncoding, ifNoneMatch }, headers) : refusal(404, 'There is no such file.');
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

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, {
    ...headers,
    ...(status !== 304 && { 'Content-Length': Buffer.byteLength(body) }),
  });
  response.end(request.method === 'HEAD' || status === 304 ? undefined : body);
}
