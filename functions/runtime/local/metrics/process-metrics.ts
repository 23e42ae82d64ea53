import { readdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { Attributes, Stored } from '../../../../shared/ports/key-value-table.ts';
import type { Metric } from './exposition.ts';

/** How often the event loop is asked for the time, in milliseconds. */
const resolution = 10;
/** Delays are told of the time since the last look that was so many milliseconds ago: so two that look get to see the same. */
const shortestWindow = 5000;

/** How a process of the service is, in the units of the metrics. */
export interface ProcessState {
  readonly connections: number;
  readonly delayMean: number;
  readonly delayP99: number;
  readonly delayMax: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly startSeconds: number;
  /** Undefined where the system does not tell. */
  readonly openFiles?: number;
}

/** Observes this process. */
export class ProcessObserver {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution });
  readonly #startSeconds = Date.now() / 1000 - process.uptime();
  #windowBegan = Date.now();
  #connections = 0;

  constructor() {
    this.#delays.enable();
  }

  /** Counts the connections of a server. */
  observe(server: Server): void {
    server.on('connection', (socket) => {
      this.#connections += 1;
      socket.once('close', () => (this.#connections -= 1));
    });
  }

  state(): ProcessState {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const openFiles = countOpenFiles();
    return {
      ...this.#delay(),
      connections: this.#connections,
      cpuSeconds: (user + system) / 1e6,
      residentBytes: rss,
      heapBytes: heapUsed,
      startSeconds: this.#startSeconds,
      ...(openFiles !== undefined && { openFiles }),
    };
  }

  close(): void {
    this.#delays.disable();
  }

  #delay(): Pick<ProcessState, 'delayMean' | 'delayP99' | 'delayMax'> {
    const delays = this.#delays;
    // What is measured is the time between two looks, in nanoseconds. None yet: the mean is not a number.
    const late = (nanoseconds: number): number => Math.max(0, (nanoseconds - resolution * 1e6) / 1e9) || 0;
    const isEmpty = Number.isNaN(delays.mean);
    const delay = isEmpty
      ? { delayMean: 0, delayP99: 0, delayMax: 0 }
      : { delayMean: late(delays.mean), delayP99: late(delays.percentile(99)), delayMax: late(delays.max) };
    if (Date.now() - this.#windowBegan >= shortestWindow) {
      this.#windowBegan = Date.now();
      delays.reset();
    }
    return delay;
  }
}

/** As an attribute, for the way between processes. */
export function processAttributes(state: ProcessState): Attributes {
  return { ...state };
}

export function processStateOf(attributes: Attributes): ProcessState {
  return attributes as Stored<ProcessState>;
}

/** @param processes by name: `primary`, `worker-1`, … */
export function processMetrics(processes: ReadonlyMap<string, ProcessState>): readonly Metric[] {
  const metric = (
    name: string,
    help: string,
    valueOf: (state: ProcessState) => number | undefined,
    type: 'gauge' | 'counter' = 'gauge',
  ): Metric => ({
    name,
    type,
    help,
    samples: [...processes].flatMap(([process, state]) => {
      const value = valueOf(state);
      return value === undefined ? [] : [{ labels: { process }, value }];
    }),
  });
  return [
    metric('stillage_open_connections', 'Open connections of clients.', ({ connections }) => connections),
    metric(
      'stillage_event_loop_delay_mean_seconds',
      'How late timers were since the last scrape, on average.',
      ({ delayMean }) => delayMean,
    ),
    metric(
      'stillage_event_loop_delay_p99_seconds',
      'How late timers were since the last scrape, 99th percentile.',
      ({ delayP99 }) => delayP99,
    ),
    metric(
      'stillage_event_loop_delay_max_seconds',
      'How late a timer was since the last scrape, at most.',
      ({ delayMax }) => delayMax,
    ),
    metric(
      'stillage_process_cpu_seconds_total',
      'Processor time of a process.',
      ({ cpuSeconds }) => cpuSeconds,
      'counter',
    ),
    metric('stillage_process_resident_memory_bytes', 'Memory of a process.', ({ residentBytes }) => residentBytes),
    metric('stillage_process_heap_bytes', 'JavaScript heap in use.', ({ heapBytes }) => heapBytes),
    metric('stillage_process_open_fds', 'Open file descriptors of a process.', ({ openFiles }) => openFiles),
    metric(
      'stillage_process_start_time_seconds',
      'When a process started, since the epoch.',
      ({ startSeconds }) => startSeconds,
    ),
  ];
}

/** Linux tells; the one that reads the list is in it. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
