import { Agent, request as startRequest, type IncomingHttpHeaders } from 'node:http';
import { alice } from '../programs/server.ts';
import { signed, type Key, type Signing, type Unsigned } from './signer.ts';

/** An answer that came whole. */
export interface PooledResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Sends signed requests over connections that it keeps: for tests that need many, at little cost to the machine. */
export class PooledClient {
  readonly #agent: Agent;
  readonly #url: URL;
  readonly #key: Key;

  constructor(service: { readonly url: string }, key: Key = alice, connections = 64) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#url = new URL(service.url);
    this.#key = key;
  }

  /** @throws Error if the connection breaks before the answer is whole */
  async send(unsigned: Unsigned, signing: Partial<Signing> = {}): Promise<PooledResponse> {
    const { method, target, headers, body } = signed(this.#url.host, unsigned, {
      key: this.#key,
      payloadHash: 'UNSIGNED-PAYLOAD',
      ...signing,
    });
    const { hostname, port } = this.#url;
    return new Promise((resolve, reject) => {
      const request = startRequest({
        agent: this.#agent,
        hostname,
        port,
        method,
        path: target,
        headers: Object.fromEntries(headers),
      });
      request.once('error', reject).once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const whole = Buffer.concat(chunks);
          resolve({ status: response.statusCode!, headers: response.headers, body: whole, text: whole.toString() });
        });
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
