import { readdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { AuditLog } from '../../../shared/audit/audit-log.ts';
import type { Scarce } from '../../../shared/protocol/bodies/capacity/bodies-in-flight.ts';
import type { ProcessCapacity } from '../capacity/capacity.ts';
import type { Metric } from './exposition.ts';

/** The interval at which the delay of the event loop is sampled, in milliseconds. */
const resolution = 10;
/** Delays are those since the latest reading that is at least this many milliseconds old, so two readers see the same. */
const shortestWindow = 5000;

/** The state of a process of the service, in the units of the metrics. */
export interface ProcessState {
  readonly connections: number;
  readonly uploads: number;
  readonly downloads: number;
  /** The number of refusals because of the capacity, by {@link Scarce}. */
  readonly refused: Readonly<Record<Scarce, number>>;
  /** The audit records that were lost, by category. */
  readonly auditLost: Readonly<Record<'management' | 'data', number>>;
  readonly delayMean: number;
  readonly delayP99: number;
  readonly delayMax: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly startSeconds: number;
  /** Undefined if the system does not report it. */
  readonly openFiles?: number;
}

const nothingLost = { management: 0, data: 0 };
const nothingRefused = { connections: 0, uploads: 0, documents: 0, downloads: 0, listings: 0 };

/** Observes this process. */
export class ProcessObserver {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution });
  readonly #startSeconds = Date.now() / 1000 - process.uptime();
  #windowBegan = Date.now();
  #connections = 0;
  #capacity: ProcessCapacity | undefined;
  #audit: Pick<AuditLog, 'lost'> | undefined;

  constructor() {
    this.#delays.enable();
  }

  /** Counts the connections of a server, its bodies in progress, and what its audit log loses. */
  observe(server: Server, capacity: ProcessCapacity, audit: Pick<AuditLog, 'lost'> | undefined): void {
    this.#capacity = capacity;
    this.#audit = audit;
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
      uploads: this.#capacity?.uploads.count ?? 0,
      downloads: this.#capacity?.downloads.count ?? 0,
      refused: { ...(this.#capacity?.refusals.totals ?? nothingRefused) },
      auditLost: { ...(this.#audit?.lost ?? nothingLost) },
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
    // The histogram has the time between two samples, in nanoseconds. Without samples, its mean is NaN.
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
    metric('stillage_uploads_in_progress', 'Bodies of requests in progress.', ({ uploads }) => uploads),
    metric('stillage_downloads_in_progress', 'Bodies of responses in progress.', ({ downloads }) => downloads),
    refusals(processes),
    lostRecords(processes),
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

function refusals(processes: ReadonlyMap<string, ProcessState>): Metric {
  return {
    name: 'stillage_capacity_refusals_total',
    type: 'counter',
    help: 'Connections, uploads, documents and downloads that were refused, since as many were in progress as may be.',
    samples: [...processes].flatMap(([process, { refused }]) =>
      Object.entries(refused).map(([of, value]) => ({ labels: { process, of }, value })),
    ),
  };
}

function lostRecords(processes: ReadonlyMap<string, ProcessState>): Metric {
  return {
    name: 'stillage_audit_lost_records_total',
    type: 'counter',
    help: 'Records of the audit log that were too many, or that the table did not take.',
    samples: [...processes].flatMap(([process, { auditLost }]) =>
      Object.entries(auditLost).map(([category, value]) => ({ labels: { process, category }, value })),
    ),
  };
}

/** Returns the number of open files, which only Linux reports. The list includes the handle that reads it. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
