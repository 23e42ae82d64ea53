import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { Connections, Place } from './connections.ts';
import type { ChannelMessage } from './messages.ts';

/** A connection on its way to a worker. */
interface Passing {
  readonly socket: Socket;
  /** Whether it has been written to the channel, where one at a time waits for the worker. */
  isSent: boolean;
}

/** A worker, as far as connections see it. */
interface WorkerPlace extends Place {
  isSilent: boolean;
}

/** Milliseconds after which a worker is asked about a connection that it has not taken. */
const checkDelay = 500;

/**
 * Tells, in a worker, which connections have not arrived. Where a process has no file handle left, the system drops what it would be passed, and
 * Node does not send it again if the sender keeps it open.
 */
export class Arrivals {
  #last = 0;

  /** Notes that a connection has arrived. */
  arrived(number: number): void {
    this.#last = number;
  }

  /** Returns the numbers of those up to a number that have not arrived, once. They arrive in order. */
  missing(upTo: number): readonly number[] {
    const first = this.#last + 1;
    this.#last = Math.max(this.#last, upTo);
    return Array.from({ length: Math.max(0, upTo - first + 1) }, (_, at) => first + at);
  }
}

/**
 * Passes connections to a worker, one at a time: those that wait can go to others if the worker does not take them. Keeps each open until
 * the worker has it: if the worker died, Node would not close the one that it has sent last.
 */
export class PassedConnections {
  readonly #worker: Worker;
  readonly #connections: Connections;
  readonly #place: WorkerPlace;
  /** Those that wait until the worker has taken the earlier ones. */
  #waiting: Socket[] = [];
  readonly #passing = new Map<number, Passing>();
  #last = 0;
  #check: NodeJS.Timeout | undefined;
  #hasBegun = false;

  constructor(worker: Worker, connections: Connections) {
    this.#worker = worker;
    this.#connections = connections;
    const serve = (socket: Socket): void => {
      this.#waiting.push(socket);
      this.#passNext();
    };
    this.#place = { weight: 1, isSilent: false, serve };
  }

  /** Whether the worker has taken part. */
  get hasBegun(): boolean {
    return this.#hasBegun;
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
    this.#passNext();
  }

  /** Notes that the worker does not answer: others get the connections that it was not sent, and all new ones. */
  silent(): void {
    this.#place.isSilent = true;
    this.#giveBack();
  }

  /** Notes that the worker answers again. */
  answersAgain(): void {
    this.#place.isSilent = false;
  }

  /** Serves connections elsewhere which have not reached the worker. */
  dropped(numbers: readonly number[]): void {
    for (const number of numbers) {
      const passing = this.#passing.get(number);
      if (!passing) continue;
      this.#passing.delete(number);
      this.#connections.closed(this.#place);
      this.#serveElsewhere(passing.socket);
    }
    // It has no file handle left for these either.
    this.#giveBack();
  }

  /** Notes that the worker has closed a connection. */
  closed(): void {
    this.#connections.closed(this.#place);
  }

  /** Stops the worker, once it has taken the connections that were passed to it. */
  stop(patience: number): void {
    for (const socket of this.#waiting.splice(0)) this.#pass(socket);
    // One that has ended needs no message.
    this.#worker.send({ kind: 'stop', patience } satisfies ChannelMessage, undefined, undefined, () => undefined);
  }

  /** To be called when the worker has ended: others serve the connections that it was not sent. */
  end(): void {
    this.#connections.remove(this.#place);
    const passing = [...this.#passing.values()];
    this.#passing.clear();
    clearTimeout(this.#check);
    this.#giveBack();
    for (const { socket, isSent } of passing) {
      // The worker may have read from it.
      if (isSent) socket.destroy();
      else this.#serveElsewhere(socket);
    }
  }

  #passNext(): void {
    if (this.#passing.size > 0) return;
    const socket = this.#waiting.shift();
    if (socket) this.#pass(socket);
  }

  #pass(socket: Socket): void {
    const number = (this.#last += 1);
    const passing = { socket, isSent: false };
    this.#passing.set(number, passing);
    this.#checkLater();
    this.#worker.send({ kind: 'connection', number } satisfies ChannelMessage, socket, { keepOpen: true }, (error) => {
      passing.isSent = error === null;
      if (passing.isSent || !this.#passing.delete(number)) return;
      this.#connections.remove(this.#place);
      this.#serveElsewhere(socket);
    });
  }

  /** Has others serve the connections that wait. */
  #giveBack(): void {
    for (const socket of this.#waiting.splice(0)) {
      this.#connections.closed(this.#place);
      this.#serveElsewhere(socket);
    }
  }

  #serveElsewhere(socket: Socket): void {
    // Without an address, the client has closed it.
    if (socket.remoteAddress === undefined) socket.destroy();
    else this.#connections.distribute(socket, this.#place);
  }

  /** Asks the worker about connections that it has not taken for a while. */
  #checkLater(): void {
    this.#check ??= setTimeout(() => {
      this.#check = undefined;
      if (this.#passing.size === 0) return;
      this.#worker.send(
        { kind: 'check', number: this.#last } satisfies ChannelMessage,
        undefined,
        undefined,
        () => undefined,
      );
      this.#checkLater();
    }, checkDelay);
  }
}
