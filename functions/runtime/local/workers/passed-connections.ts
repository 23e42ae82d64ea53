import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { Connections, Place } from './connections.ts';

/** A message to a worker, on the channel of node:cluster, which keeps them in order. */
export type WorkerMessage =
  /** Comes with the socket; without it, if the client has already closed it. */
  | { readonly kind: 'connection' }
  /** Stop serving. `patience`: milliseconds after which running requests are to be cut off. */
  | { readonly kind: 'stop'; readonly patience: number };

/** Passes connections to a worker. */
export class PassedConnections {
  readonly #worker: Worker;
  readonly #connections: Connections;
  readonly #place: Place;
  /** Those that wait until the worker has taken the ones before. */
  readonly #waiting = new Set<Socket>();
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

  /** Notes that the worker has closed a connection. */
  closed(): void {
    this.#connections.closed(this.#place);
  }

  /** Stops the worker, once it has taken the connections that were passed to it. */
  stop(patience: number): void {
    this.#send({ kind: 'stop', patience });
  }

  /** To be called when the worker has ended: others serve the connections that it has not taken. @returns whether it took part */
  end(): boolean {
    this.#connections.remove(this.#place);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) this.#serveElsewhere(socket);
    return this.#hasBegun;
  }

  #pass(socket: Socket): void {
    this.#waiting.add(socket);
    this.#send({ kind: 'connection' }, socket, (error) => {
      if (!this.#waiting.delete(socket) || error === null) return;
      this.#connections.remove(this.#place);
      this.#serveElsewhere(socket);
    });
  }

  #serveElsewhere(socket: Socket): void {
    // Without an address, it is no longer here: the client has closed it, or the worker had it and died.
    if (socket.remoteAddress === undefined) socket.destroy();
    else this.#connections.distribute(socket);
  }

  #send(message: WorkerMessage, socket?: Socket, sent: (error: Error | null) => void = () => undefined): void {
    this.#worker.send(message, socket, sent);
  }
}
