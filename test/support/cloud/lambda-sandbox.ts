import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { VirtualTime } from '../runs/virtual-time.ts';

/** The duration of calls in milliseconds, on which only the amount of work in an invocation depends. */
const latency = { get: 5, getTogether: 10, query: 10, write: 10, remove: 100 } as const;

/** The outcome of an invocation. */
export type Invoked<Result> = { readonly result: Result } | 'timed out';

/**
 * An invocation as in Lambda: it knows the remaining time, and is stopped when none is left, whatever it is doing.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
 */
export class LambdaSandbox {
  readonly #time: VirtualTime;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** @param work receives a table and blobs whose calls never return once the timeout has passed */
  async invoke<Result>(
    { table, blobs }: { readonly table: KeyValueTable; readonly blobs: BlobStore },
    timeout: number,
    work: (
      sandbox: { readonly table: KeyValueTable; readonly blobs: BlobStore },
      remaining: () => number,
    ) => Promise<Result>,
  ): Promise<Invoked<Result>> {
    const deadline = this.#time.now() + timeout;
    const slow = <Call extends (...given: never[]) => Promise<unknown>>(call: Call, milliseconds: number): Call =>
      (async (...given: never[]) => {
        await this.#time.sleep(milliseconds);
        // It is not carried out, and its caller gets no answer.
        if (this.#time.now() > deadline) return new Promise(() => undefined);
        return call(...given);
      }) as unknown as Call;
    const sandbox = {
      table: {
        freeChecks: table.freeChecks,
        get: slow(table.get.bind(table), latency.get),
        getTogether: slow(table.getTogether.bind(table), latency.getTogether),
        query: slow(table.query.bind(table), latency.query),
        scan: table.scan.bind(table),
        write: slow(table.write.bind(table), latency.write),
        close: async () => undefined,
      },
      blobs: { ...blobs, remove: slow(blobs.remove.bind(blobs), latency.remove) },
    };
    const over = this.#time.sleep(timeout + 1).then(() => 'timed out' as const);
    const done = work(sandbox, () => Math.max(0, deadline - this.#time.now())).then((result) => ({ result }));
    return this.#time.pass(Promise.race([done, over]));
  }
}
