import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { Connections, Place } from './connections.ts';

/** A message to a worker, on the channel of node:cluster, which keeps them in order. */
export type WorkerMessage =
  /** Comes with the socket; without it, if that is closed already. */
  | { readonly kind: 'connection'; readonly number: number }
  /** Stop serving. `patience`: milliseconds after which running requests are to be cut off. */
  | { readonly kind: 'stop'; readonly patience: number };

/** A connection on its way to a worker. */
interface Passing {
  readonly socket: Socket;
  /** Whether it has been written to the channel, where one at a time waits for the worker. */
  isSent: boolean;
}

/**
 * Passes connections to a worker. Keeps each open until the worker has it: if the worker died, Node would not close the one that it
 * has sent last.
 */
export class PassedConnections {
  readonly #worker: Worker;
  readonly #connections: Connections;
  readonly #place: Place;
  readonly #passing = new Map<number, Passing>();
  #last = 0;
  #hasBegun = false;

  constructor(worker: Worker, connections: Connections) {
    this.#worker = worker;
    this.#connections = connections;
    this.#place = { weight: 1, serve: (socket) => this.#pass(socket) };
  }

  /** Has the worker take part. */
  begin(): void {
    this.#hasBegun = true;
    this.#connections.add(this.#place);
  }

  /** Notes that the worker has taken a connection. */
  taken(number: number): void {
    // The connection stays open, as it is the worker's, too.
    this.#passing.get(number)?.socket.destroy();
    this.#passing.delete(number);
  }

  /** Notes that the worker has closed a connection. */
  closed(): void {
    this.#connections.closed(this.#place);
  }

  /** Stops the worker, once it has taken the connections that were passed to it. */
  stop(patience: number): void {
    // One that has ended needs no message.
    this.#worker.send({ kind: 'stop', patience } satisfies WorkerMessage, undefined, undefined, () => undefined);
  }

  /**
   * To be called when the worker has ended: others serve the connections that it was not sent.
   * @returns whether it took part
   */
  end(): boolean {
    this.#connections.remove(this.#place);
    const passing = [...this.#passing.values()];
    this.#passing.clear();
    for (const { socket, isSent } of passing) {
      // The worker may have read from it.
      if (isSent) socket.destroy();
      else this.#serveElsewhere(socket);
    }
    return this.#hasBegun;
  }

  #pass(socket: Socket): void {
    const number = (this.#last += 1);
    const passing = { socket, isSent: false };
    this.#passing.set(number, passing);
    this.#worker.send({ kind: 'connection', number } satisfies WorkerMessage, socket, { keepOpen: true }, (error) => {
      passing.isSent = error === null;
      if (passing.isSent || !this.#passing.delete(number)) return;
      this.#connections.remove(this.#place);
      this.#serveElsewhere(socket);
    });
  }

  #serveElsewhere(socket: Socket): void {
    // Without an address, the client has closed it.
    if (socket.remoteAddress === undefined) socket.destroy();
    else this.#connections.distribute(socket);
  }
}
