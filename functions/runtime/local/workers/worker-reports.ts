import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import type { OtherProcesses, ProcessMeasurements } from '../metrics/metrics.ts';
import { processAttributes, processStateOf, type ProcessState } from '../metrics/process-metrics.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import type { Link } from './link.ts';

/** A worker that takes longer to answer is left out of a scrape. What it has counted is in the next one. */
const patience = 1000;

/** What the primary asks its workers for. What one counted after its last answer about its measurements dies with it. */
export class WorkerReports implements OtherProcesses {
  readonly #links = new Map<string, Link>();
  #deaths = 0;

  get deaths(): number {
    return this.#deaths;
  }

  /** @returns the name of the worker: the first that none of those has which run, so that there are no more names than workers */
  add(link: Link): string {
    let number = 1;
    while (this.#links.has(`worker-${number}`)) number += 1;
    this.#links.set(`worker-${number}`, link);
    return `worker-${number}`;
  }

  remove(name: string): void {
    this.#links.delete(name);
  }

  died(): void {
    this.#deaths += 1;
  }

  /** Resolves once all notices that the workers had sent before the call are handled. */
  async settle(): Promise<void> {
    await Promise.allSettled([...this.#links.values()].map((link) => link.request('settle')));
  }

  async collect(requests: RequestMetrics): Promise<ReadonlyMap<string, ProcessState>> {
    const states = new Map<string, ProcessState>();
    const answers = [...this.#links].map(async ([name, link]) => {
      const answer = await link.request('measurements');
      requests.add(answer['requests'] as Attributes);
      states.set(name, processStateOf(answer['process'] as Attributes));
    });
    const late = new AbortController();
    const tooLate = sleep(patience, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(answers), tooLate]);
    late.abort();
    return new Map([...states].sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true })));
  }
}

/** What a worker answers to it. */
export function measurementsOf({ requests, observer }: ProcessMeasurements): Attributes {
  return { requests: requests.take(), process: processAttributes(observer.state()) };
}
