import { IncomingMessage } from 'node:http';
import { ChunkCount } from '../../http/chunk-count.ts';
import { EventLoopBudget, stepsPerTurn } from '../../ports/event-loop.ts';
import { hold, release } from './sliced-reading.ts';

/** By their requests. */
const readings = new WeakMap<IncomingMessage, ChunkedReading>();

/** Reading a body in the chunked transfer coding is work, a step for each chunk: it pauses until somebody wants the body, and by its budget. */
export class ChunkedReading {
  readonly #request: IncomingMessage;
  readonly #budget = new EventLoopBudget();
  readonly #count = new ChunkCount();
  /** The chunks that were parsed since {@link pace}. */
  #steps = 0;
  #isHeld = false;

  private constructor(request: IncomingMessage) {
    this.#request = request;
    // The only place that sees each chunk: a reader gets all that have arrived as one.
    request.push = (chunk: Buffer | null, encoding) => {
      // The body will be refused, so its bytes need not be kept.
      if (chunk !== null && this.#count.isAbsurd) return false;
      if (chunk !== null) this.#parsed(chunk.byteLength);
      return IncomingMessage.prototype.push.call(request, chunk, encoding);
    };
    this.#hold();
  }

  /** Watches the body of a request whose head has arrived, if it has the chunked transfer coding. */
  static watch(request: IncomingMessage): void {
    if (request.headers['transfer-encoding'] !== undefined) readings.set(request, new ChunkedReading(request));
  }

  static of(request: IncomingMessage): ChunkedReading | undefined {
    return readings.get(request);
  }

  /** Takes turns for the chunks that have been parsed. Then reads on. @throws S3Error InvalidChunkSizeError */
  async pace(): Promise<void> {
    this.#count.check();
    const wait = this.#budget.spend(this.#steps);
    this.#steps = 0;
    if (wait !== undefined) {
      this.#hold();
      await wait;
    }
    this.release();
  }

  /** Reads from the connection again. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    release(this.#request.socket);
  }

  #parsed(bytes: number): void {
    this.#count.add(bytes);
    if ((this.#steps += 1) === stepsPerTurn) this.#hold();
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    hold(this.#request.socket);
  }
}
