import type { IncomingHttpHeaders } from 'node:http';
import { Fields, type ResponseMessage } from '../../shared/http/message.ts';
import type { Pipeline } from '../../shared/protocol/pipeline.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { serving } from './current-request.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './table.ts';
import type { Tenant } from './tenants.ts';

/** A process that answers requests. */
export interface Server {
  readonly process: SimulatedProcess;
  readonly pipeline: Pipeline;
}

/** A whole response. */
export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The code of an error response. */
  readonly code: string | undefined;
}

export const host = 'stillage.test';

/** The network between clients and servers: it takes its time, and connections break. */
export class Network {
  readonly #world: World;
  readonly #pick: () => Server | undefined;
  #requests = 0;

  /** @param pick returns the server of the next request; undefined if none is up */
  constructor(world: World, pick: () => Server | undefined) {
    this.#world = world;
    this.#pick = pick;
  }

  /** The number of requests sent until now. */
  get requests(): number {
    return this.#requests;
  }

  /** Sends a signed request. Rejects with an error of a socket if there is no whole response. @param operation its name in traces */
  async send(by: Tenant, unsigned: Unsigned, operation: string): Promise<Response> {
    const { scheduler, adversity } = this.#world;
    this.#requests += 1;
    const began = scheduler.now;
    const name = `${by.name}: ${operation} ${unsigned.path}?${unsigned.query ?? ''}`;
    await this.#delay(`${name} arrives`);
    const { process, pipeline } = await this.#connect(name);
    const { latency, connections } = adversity.now;
    const connection = { isOpen: true };
    const response = await new Promise<Response>((resolve, reject) => {
      const breaks = (): void => {
        connection.isOpen = false;
        reject(Object.assign(new Error('the connection is reset'), { code: 'ECONNRESET' }));
      };
      const unsubscribe = process.atEnd(() => scheduler.after(scheduler.delay(latency), `${name} is cut off`, breaks));
      if (scheduler.random.next() < connections) {
        scheduler.after(10 * scheduler.delay(latency), `${name} loses its connection`, breaks);
      }
      serving({ caller: by.name, operation, began }, () => this.#answer(pipeline, process, connection, by, unsigned))
        .finally(unsubscribe)
        .then(resolve, breaks);
    });
    await this.#delay(`${name}: ${response.status} ${response.code ?? ''}`);
    return response;
  }

  /** Returns the server of a new connection, once one is up. */
  async #connect(name: string): Promise<Server> {
    for (;;) {
      const server = this.#pick();
      if (server !== undefined) return server;
      await this.#delay(`${name} is refused a connection`);
    }
  }

  async #answer(
    pipeline: Pipeline,
    process: SimulatedProcess,
    connection: { readonly isOpen: boolean },
    by: Tenant,
    unsigned: Unsigned,
  ): Promise<Response> {
    const { scheduler } = this.#world;
    const { method, target, headers, body = '' } = signed(host, unsigned, { key: by.key, time: scheduler.now });
    const response = await pipeline.handle({
      ...{ method, target, fields: new Fields(headers), secure: true, remoteAddress: '192.0.2.7' },
      body: this.#body(process, connection, Buffer.from(body)),
    });
    const bytes = await bytesOf(response);
    const text = bytes.toString();
    return {
      status: response.status,
      headers: Object.fromEntries(response.fields),
      body: bytes,
      text,
      code: /<Code>(\w+)<\/Code>/.exec(text)?.[1],
    };
  }

  /** The body of a request, as it arrives: in up to three pieces. */
  async *#body(
    process: SimulatedProcess,
    connection: { readonly isOpen: boolean },
    bytes: Buffer,
  ): AsyncGenerator<Uint8Array> {
    const { scheduler, adversity } = this.#world;
    const pieces = bytes.length === 0 ? 0 : 1 + scheduler.random.below(3);
    for (let piece = 0; piece < pieces; piece += 1) {
      await scheduler.call(process, 'bytes arrive', adversity.now.latency, () => undefined);
      if (!connection.isOpen) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      yield bytes.subarray((bytes.length * piece) / pieces, (bytes.length * (piece + 1)) / pieces);
    }
  }

  #delay(label: string): Promise<void> {
    const { scheduler, adversity } = this.#world;
    return new Promise((resolve) => scheduler.after(scheduler.delay(adversity.now.latency), label, resolve));
  }
}

async function bytesOf({ body }: ResponseMessage): Promise<Buffer> {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body ?? '');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
