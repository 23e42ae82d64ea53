import type { ServerResponse } from 'node:http';

/** The maximum number of responses that wait for each other: a small request takes some 100 µs, and the first is not to wait for long. */
const maxResponses = 16;

interface Ending {
  readonly response: ServerResponse;
  readonly body: Uint8Array | undefined;
}

/**
 * Ends the responses of one turn of the event loop together, once every request that had arrived has been handled. Waking a client or a
 * proxy on the same machine for each response would take a quarter of the processor time of a small request; of responses written one
 * right after another, only the first wakes it.
 */
export class ResponseBatch {
  readonly #onUnfinished: (response: ServerResponse) => void;
  #waiting: Ending[] = [];

  /** @param onUnfinished called for a response that has ended, and that the system has not taken to its end */
  constructor(onUnfinished: (response: ServerResponse) => void) {
    this.#onUnfinished = onUnfinished;
  }

  /** Ends a response in this turn, or destroys it if that fails. @param body must not change until then */
  end(response: ServerResponse, body: Uint8Array | undefined): void {
    const count = this.#waiting.push({ response, body });
    if (count === 1) setImmediate(() => this.#endAll());
    else if (count === maxResponses) this.#endAll();
  }

  #endAll(): void {
    for (const { response, body } of this.#waiting.splice(0)) {
      try {
        response.end(body);
      } catch {
        response.destroy();
      }
      if (!isTaken(response)) this.#onUnfinished(response);
    }
  }
}

/** Returns whether the system has taken all of a response that has just ended, as it nearly always does. Without a socket, it waits for another one. */
function isTaken({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket?.writableLength === 0;
}
