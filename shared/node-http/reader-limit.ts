import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Events that end a wait for the client; the caller checks whether it is still connected. */
const endings = ['drain', 'close', 'error'] as const;

/** Closes the connections of clients that have stopped reading their responses. */
export class ReaderLimit {
  readonly #milliseconds: number;
  /** How many responses of a connection are waited for. Those to pipelined requests follow one another. */
  readonly #waits = new WeakMap<Socket, number>();

  /** @param milliseconds how long a client may read nothing */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Waits until the client has read what was written, or its connection is closed. */
  taken(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const { socket } = response.req;
      this.#begin(socket);
      const end = (): void => {
        this.#end(socket);
        for (const event of endings) response.off(event, end);
        resolve();
      };
      for (const event of endings) response.on(event, end);
    });
  }

  /** Limits the time for the rest of a response that has ended. */
  follow(response: ServerResponse): void {
    const { socket } = response.req;
    this.#begin(socket);
    // Before Node's listener, which sets the time for which the connection may be idle.
    response.prependOnceListener('finish', () => this.#end(socket));
  }

  #begin(socket: Socket): void {
    const waits = this.#waits.get(socket) ?? 0;
    this.#waits.set(socket, waits + 1);
    // Node closes a connection on which no byte was sent or received for this time.
    if (waits === 0) socket.setTimeout(this.#milliseconds);
  }

  #end(socket: Socket): void {
    const waits = this.#waits.get(socket)! - 1;
    this.#waits.set(socket, waits);
    if (waits === 0) socket.setTimeout(0);
  }
}
