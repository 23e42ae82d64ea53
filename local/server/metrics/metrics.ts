import packageJson from '../../../package.json' with { type: 'json' };
import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { exposition, type Metric } from './exposition.ts';
import { ProcessObserver, processMetrics, type ProcessState } from './process-metrics.ts';
import { RequestMetrics, type TakenCounts } from './request-metrics.ts';
import type { StoreMetrics } from './store-metrics.ts';

/** Returns true if the options ask for metrics. */
export function isMeasured({ metricsPort, metricsTokenFile }: StartOptions): boolean {
  return metricsPort !== 0 || metricsTokenFile !== undefined;
}

/** What a process has measured, for another one. */
export interface TakenMeasurements {
  readonly requests: Readonly<Record<string, TakenCounts>>;
  readonly process: ProcessState;
}

/** The measurements of one process. With several processes, each has its own. */
export class ProcessMeasurements {
  readonly requests = new RequestMetrics();
  readonly observer = new ProcessObserver();

  /** Returns what was measured; of the requests, what was counted since the last call. */
  taken(): TakenMeasurements {
    return { requests: this.requests.take(), process: this.observer.state() };
  }

  /** Counts every request on its way to the log. */
  counted(telemetry: Telemetry): Telemetry {
    return {
      request: (record: RequestRecord) => {
        this.requests.count(record);
        telemetry.request(record);
      },
      problem: (...problem) => telemetry.problem(...problem),
      note: (...note) => telemetry.note(...note),
    };
  }
}

/** The other processes of the service. */
export interface OtherProcesses {
  /**
   * Adds the counts of the processes, and returns their states by name. Omits processes that do not answer soon.
   */
  collect(requests: RequestMetrics): Promise<ReadonlyMap<string, ProcessState>>;
  /** The number of workers that died and were replaced. */
  readonly deaths: number;
}

/** The metrics of the whole service with all its processes. */
export class Metrics {
  readonly #own: ProcessMeasurements;
  readonly #stores: StoreMetrics;
  readonly #others: OtherProcesses | undefined;
  #scraping: Promise<string> | undefined;

  constructor(own: ProcessMeasurements, stores: StoreMetrics, others: OtherProcesses | undefined) {
    this.#own = own;
    this.#stores = stores;
    this.#others = others;
  }

  /** Takes a measurement and returns it in the text format. Those who ask meanwhile get the same one. */
  scrape(): Promise<string> {
    return (this.#scraping ??= this.#measure().finally(() => (this.#scraping = undefined)));
  }

  async #measure(): Promise<string> {
    const [stores, states] = await Promise.all([this.#stores.metrics(), this.#others?.collect(this.#own.requests)]);
    const processes = new Map([['primary', this.#own.observer.state()], ...(states ?? [])]);
    return exposition([
      buildInfo,
      ...this.#own.requests.metrics(),
      ...processMetrics(processes),
      ...(this.#others ? [workerDeaths(this.#others.deaths)] : []),
      ...stores,
    ]);
  }
}

const buildInfo: Metric = {
  name: 'stillage_build_info',
  type: 'gauge',
  help: 'The version of the service and of Node.js; always 1.',
  samples: [{ labels: { version: packageJson.version, node: process.versions.node }, value: 1 }],
};

function workerDeaths(value: number): Metric {
  return {
    name: 'stillage_worker_deaths_total',
    type: 'counter',
    help: 'Workers that died, or hung, and were replaced.',
    samples: [{ value }],
  };
}
