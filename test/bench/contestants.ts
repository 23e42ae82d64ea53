import { Agent, request } from 'node:http';
import { signed, type Key } from '../support/clients/signer.ts';
import { usageOf } from './requests/process-usage.ts';

/** A request of a piece of work; path and query are escaped already. */
export interface Sent {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  /** Sends a request and answers its body, of which only texts are kept. @throws Error for a status of 300 or more */
  send(sent: Sent): Promise<string>;
  /** Begins with new connections: a server may be closing those that were idle for long. */
  reconnect(): void;
  /** Milliseconds of processor time that its processes have used, if that can be seen. */
  processorTime(): number | undefined;
  stop(): Promise<void>;
}

/** Sends requests to a server, signed with the key. */
export function contestant(name: string, url: string, key: Key, pids: readonly number[]): Omit<Contestant, 'stop'> {
  let agent = new Agent({ keepAlive: true });
  const { hostname, port, host } = new URL(url);
  const headersOf = ({ method, path, query = '', headers = {} }: Sent): Record<string, string> => {
    const all = signed(host, { method, path, query, headers }, { key, payloadHash: 'UNSIGNED-PAYLOAD' }).headers;
    return Object.fromEntries(all);
  };
  return {
    name,
    url,
    send: (sent) =>
      new Promise((resolve, reject) => {
        const { method, path, query, body } = sent;
        const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
        const target = query === undefined ? path : `${path}?${query}`;
        const options = { agent, hostname, port, method, path: target, headers: { ...headersOf(sent), ...length } };
        const outgoing = request(options, (answer) => {
          const isText = answer.headers['content-type']?.includes('xml') === true;
          let text = '';
          if (isText) answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          else answer.resume();
          answer.on('error', reject).on('end', () => {
            if (answer.statusCode! < 300) resolve(text || (answer.headers.etag ?? ''));
            else reject(new Error(`${method} ${target}: ${answer.statusCode} ${text}`));
          });
        });
        outgoing.on('error', reject).end(body);
      }),
    reconnect: () => {
      agent.destroy();
      agent = new Agent({ keepAlive: true });
    },
    processorTime: () => usageOf(pids)?.processor,
  };
}
