import { setTimeout as sleep } from 'node:timers/promises';
import type { OtherProcesses } from '../metrics/metrics.ts';
import type { ProcessState } from '../metrics/process-metrics.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import type { WorkerProcess } from './messages.ts';

/** A worker that takes longer to answer is left out of a scrape. What it has counted is in the next one. */
const patience = 1000;
/** How long a worker may take to report what it has finished before a request is told to come again. */
const settlePatience = 5000;

/** What the primary asks its workers for. What one counted after its last answer about its measurements dies with it. */
export class WorkerReports implements OtherProcesses {
  readonly #workers = new Map<string, WorkerProcess>();
  #deaths = 0;

  get deaths(): number {
    return this.#deaths;
  }

  /** @returns the name of the worker: the first that none of those has which run, so that there are no more names than workers */
  add(worker: WorkerProcess): string {
    let number = 1;
    while (this.#workers.has(`worker-${number}`)) number += 1;
    this.#workers.set(`worker-${number}`, worker);
    return `worker-${number}`;
  }

  remove(name: string): void {
    this.#workers.delete(name);
  }

  died(): void {
    this.#deaths += 1;
  }

  /**
   * Resolves once all notices that the workers had sent before the call are handled, or it is too late.
   * @returns false if one has not answered: what it has finished is not known
   */
  async settle(): Promise<boolean> {
    return isInTime(
      [...this.#workers.values()].map((worker) => worker.settle()),
      settlePatience,
    );
  }

  async collect(requests: RequestMetrics): Promise<ReadonlyMap<string, ProcessState>> {
    const states = new Map<string, ProcessState>();
    const answers = [...this.#workers].map(async ([name, worker]) => {
      const measured = await worker.measurements();
      if (measured === undefined) return;
      requests.add(measured.requests);
      states.set(name, measured.process);
    });
    await isInTime(answers, patience);
    return new Map([...states].sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true })));
  }
}

/** Waits until all have an outcome, or it is too late. @param most milliseconds @returns whether all have one */
async function isInTime(answers: readonly Promise<unknown>[], most: number): Promise<boolean> {
  const late = new AbortController();
  const tooLate = sleep(most, false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([Promise.allSettled(answers).then(() => true), tooLate]);
  late.abort();
  return inTime;
}
