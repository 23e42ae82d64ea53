import { once } from 'node:events';
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of a service. */
interface Told {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** The body is as long as it is announced, although it is another. */
  readonly isWhole?: true;
}

/** Changes an answer of the service, or not, or loses it with its connection. */
export type Lie = (request: IncomingMessage, told: Told) => Told | 'lost' | undefined;

/** A proxy before a service, which lies as it is told. */
export interface LyingProxy {
  readonly url: string;
  /** Undefined: it is honest. */
  lie: Lie | undefined;
  /** Refuses requests before the service gets them. */
  refuse: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  stop(): void;
}

/** Starts a proxy before a service. */
export async function startLyingProxy(service: { readonly url: string }): Promise<LyingProxy> {
  const { port } = new URL(service.url);
  const server = createServer((request, response) => {
    if (proxy.refuse?.(request, response) === true) return;
    const { method, url: path, headers } = request;
    const forwarded = forward({ port, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => {
        const told: Told = { status: answer.statusCode!, headers: { ...answer.headers }, body: Buffer.concat(chunks) };
        const shown = proxy.lie?.(request, told) ?? told;
        if (shown === 'lost') {
          response.destroy();
          return;
        }
        const { 'content-length': _, 'transfer-encoding': __, ...fields } = shown.headers;
        response.writeHead(
          shown.status,
          shown.isWhole ? { ...fields, 'content-length': shown.body.length } : shown.headers,
        );
        if (shown.body.length === told.body.length || shown.isWhole) response.end(shown.body);
        else response.write(shown.body, () => response.destroy());
      });
    });
    forwarded.once('error', () => response.destroy());
    request.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: LyingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ lie: undefined, refuse: undefined },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
