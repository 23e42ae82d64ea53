import { createServer, type Server } from 'node:https';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Certificates } from './certificates.ts';

/** A request that a receiver got. */
export interface ReceivedCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTPS server on the loopback address that records requests, and answers 204 by default. */
export class WebhookReceiver {
  readonly calls: ReceivedCall[] = [];
  answer: (response: ServerResponse, call: ReceivedCall) => void = (response) => response.writeHead(204).end();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const call = { method: request.method, path: request.url, headers: request.headers, body };
        this.calls.push(call);
        this.answer(response, call);
      });
    });
  }

  static async start({ certificate, key }: Certificates): Promise<WebhookReceiver> {
    const server = createServer({ cert: await readFile(certificate), key: await readFile(key) });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WebhookReceiver(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
