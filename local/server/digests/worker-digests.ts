import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { DigestAlgorithm } from '../../../shared/checksums/running-digest.ts';
import type { BodyDigests, DigestThreads, DigestValues } from '../../../shared/protocol/bodies/body-digests.ts';
import { DigestRing, slotSize, type DigestOrder, type DigestReply, type Piece } from './digest-ring.ts';

/** The minimum size in bytes of a body for threads. A shorter one takes less time than the messages about it. */
const leastLength = 512 * 1024;
/** The maximum number of bodies at a time: each takes three slots of memory, and more keep all processors busy without further threads. */
const maxBodies = 8;
const maxThreads = 4;

/** The bundled program of a thread, in the folder of the service's program. Programs that import the service do not have it. */
const program = (): URL => new URL('digest-thread.mjs', import.meta.url);

/** The limits of a thread's heap in MB: it creates little garbage, which must not accumulate. */
const memoryLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 };

function startThread(): Worker {
  return new Worker(program(), { resourceLimits: memoryLimits });
}

/**
 * Computes digests of large bodies in threads (`node:worker_threads`), so that they use other processors than the serving thread, and MD5
 * a different one than all others. A body is copied into memory shared with its threads, and waits while it is full. ADR 67.
 */
export class WorkerDigests implements DigestThreads {
  readonly #threads: (DigestThread | undefined)[];
  readonly #create: () => Worker;
  readonly #free: DigestRing[] = [];
  #bodies = 0;
  #next = 1;

  /** @param threads the number of threads, which start with the first large body. @param create starts a thread */
  constructor(threads: number, create = startThread) {
    this.#threads = Array.from({ length: threads }, () => undefined);
    this.#create = create;
  }

  /** Returns threads for one of several processes on a machine, if the machine has processors for them and their program exists. */
  static forProcesses(processes: number): WorkerDigests | undefined {
    const processors = availableParallelism();
    if (processors === 1 || !existsSync(program())) return undefined;
    return new WorkerDigests(Math.min(maxThreads, Math.max(1, Math.floor(processors / processes))));
  }

  start(algorithms: readonly DigestAlgorithm[], length: number): BodyDigests | undefined {
    if (length < leastLength || this.#bodies >= maxBodies) return undefined;
    this.#bodies += 1;
    const body = this.#next++;
    const ring = this.#free.pop() ?? new DigestRing();
    return new ThreadedDigests(body, ring, this.#assigned(algorithms), (isRead) => {
      this.#bodies -= 1;
      // Another thread may still read the ring if one has failed.
      if (isRead) this.#free.push(ring);
    });
  }

  /** Ends the threads. No body may be in progress. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.filter((thread) => thread !== undefined).map((thread) => thread.close()));
  }

  /** Divides algorithms among threads: the slowest has a separate one. The threads with the fewest bodies are chosen. */
  #assigned(algorithms: readonly DigestAlgorithm[]): Map<DigestThread, readonly DigestAlgorithm[]> {
    const slowest = algorithms.filter((algorithm) => algorithm === 'MD5');
    const others = algorithms.filter((algorithm) => algorithm !== 'MD5');
    const groups = this.#threads.length === 1 ? [algorithms] : [slowest, others].filter(({ length }) => length > 0);
    const threads = this.#threads.map((thread, at) => {
      if (thread?.isAlive === true) return thread;
      return (this.#threads[at] = new DigestThread(this.#create()));
    });
    threads.sort((a, b) => a.bodies - b.bodies);
    return new Map(groups.map((group, at) => [threads[at]!, group]));
  }
}

/** Receives a thread's replies about one body. */
interface Listener {
  hear(reply: DigestReply): void;
  fail(error: Error): void;
}

/** The handle of a thread in the thread that started it. */
class DigestThread {
  isAlive = true;
  readonly #worker: Worker;
  readonly #listeners = new Map<number, Listener>();

  constructor(worker: Worker) {
    this.#worker = worker;
    // It does not keep the process alive.
    worker.unref();
    worker.on('message', (reply: DigestReply) => this.#listeners.get(reply.body)?.hear(reply));
    worker.on('error', (error) => this.#end(error));
    worker.on('exit', () => this.#end(new Error('a thread that computes digests has ended')));
  }

  get bodies(): number {
    return this.#listeners.size;
  }

  listen(body: number, listener: Listener): void {
    this.#listeners.set(body, listener);
  }

  ignore(body: number): void {
    this.#listeners.delete(body);
  }

  /** Sends orders in one message: each message wakes the thread. */
  send(orders: readonly DigestOrder[]): void {
    this.#worker.postMessage(orders);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.isAlive = false;
    for (const listener of this.#listeners.values()) listener.fail(error);
    this.#listeners.clear();
  }
}

/**
 * Returns the number of bytes by which a copy has to begin later, so that source and destination have the same alignment: V8 then copies
 * words to shared memory, and otherwise bytes, which takes ten times as long.
 * @param offset the offset of the source minus that of the destination
 */
function misalignment(offset: number): number {
  return offset & 7;
}

/** Digests of one body in one or two threads. */
class ThreadedDigests implements BodyDigests, Listener {
  readonly #body: number;
  readonly #ring: DigestRing;
  readonly #threads: readonly DigestThread[];
  /** Orders that wait for the next message to each thread. */
  readonly #orders: DigestOrder[][];
  readonly #done: (isRead: boolean) => void;
  readonly #values = new Map<DigestAlgorithm, Uint8Array>();
  /** Threads that have not sent their digests. */
  #left: number;
  #slot = 0;
  /** The end of the slot's content, and the positions of its pieces. */
  #filled = 0;
  #pieces: Piece[] = [];
  #hasEnded = false;
  #isAbandoned = false;
  #failure: Error | undefined;
  /** Called after every change. */
  #wake: () => void = () => undefined;

  constructor(
    body: number,
    ring: DigestRing,
    assigned: ReadonlyMap<DigestThread, readonly DigestAlgorithm[]>,
    done: (isRead: boolean) => void,
  ) {
    this.#body = body;
    this.#ring = ring;
    this.#threads = [...assigned.keys()];
    this.#left = assigned.size;
    this.#done = done;
    this.#orders = [...assigned.values()].map((algorithms) => [{ do: 'start', body, algorithms, memory: ring.memory }]);
    for (const thread of this.#threads) thread.listen(body, this);
  }

  hear({ digests }: DigestReply): void {
    if (digests !== undefined) {
      for (const [algorithm, value] of digests) this.#values.set(algorithm, value);
      this.#left -= 1;
    }
    if (!this.#isAbandoned) this.#wake();
    else if (this.#left === 0) this.#finish(true);
  }

  fail(error: Error): void {
    this.#failure ??= error;
    if (!this.#isAbandoned) this.#wake();
    else this.#finish(false);
  }

  update(bytes: Uint8Array): Promise<void> | undefined {
    const taken = this.#take(bytes);
    return taken === bytes.length ? undefined : this.#takeLater(bytes.subarray(taken));
  }

  async end(): Promise<DigestValues> {
    if (this.#filled > 0) this.#pass();
    this.#hasEnded = true;
    this.#send({ do: 'end', body: this.#body });
    while (this.#left > 0 && this.#failure === undefined) await this.#change();
    this.#finish(this.#failure === undefined);
    if (this.#failure !== undefined) throw this.#failure;
    return this.#values;
  }

  abandon(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isAbandoned = true;
    this.#send({ do: 'abandon', body: this.#body });
    // Otherwise when all threads have replied: a ring that is not used again is kept by the threads, which hardly ever collect garbage.
    if (this.#failure !== undefined) this.#finish(false);
  }

  /** Copies bytes into free slots. Returns their number. */
  #take(bytes: Uint8Array): number {
    let taken = 0;
    while (taken < bytes.length) {
      if (this.#filled === 0 && !this.#ring.isFree(this.#slot)) break;
      // What is left of a slot may be less than a copy has to begin later: then the slot is full.
      const start = Math.min(slotSize, this.#filled + misalignment(bytes.byteOffset + taken - this.#filled));
      const part = bytes.subarray(taken, taken + slotSize - start);
      this.#ring.slot(this.#slot).set(part, start);
      if (part.length > 0) this.#pieces.push([start, part.length]);
      this.#filled = start + part.length;
      taken += part.length;
      if (this.#filled < slotSize) continue;
      this.#pass();
      this.#send();
    }
    return taken;
  }

  async #takeLater(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; taken += this.#take(bytes.subarray(taken))) {
      if (this.#failure !== undefined) throw this.#failure;
      if (!this.#ring.isFree(this.#slot)) await this.#change();
    }
  }

  /** Passes the slot to the threads, with the next message. */
  #pass(): void {
    this.#ring.pass(this.#slot, this.#threads.length);
    const update = { do: 'update', body: this.#body, slot: this.#slot, pieces: this.#pieces } as const;
    for (const orders of this.#orders) orders.push(update);
    this.#slot += 1;
    this.#filled = 0;
    this.#pieces = [];
  }

  /** Sends the waiting orders, and these. */
  #send(...more: readonly DigestOrder[]): void {
    this.#threads.forEach((thread, at) => thread.send([...this.#orders[at]!.splice(0), ...more]));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #finish(isRead: boolean): void {
    for (const thread of this.#threads) thread.ignore(this.#body);
    this.#done(isRead);
  }
}
