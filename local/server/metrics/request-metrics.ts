import type { RequestRecord } from '../../../shared/ports/telemetry.ts';
import type { Metric, Sample } from './exposition.ts';

/** The upper bounds of the histogram's buckets, in seconds: from a read of the table to an upload that takes hours. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, Infinity];

/** The requests of an operation. */
interface Counts {
  /** The numbers of requests by class of status: `2xx`, `4xx`, … */
  readonly statuses: Map<string, number>;
  /** For each bucket of the histogram: the requests that took longer than the bound before it, and not longer than its own. */
  readonly durations: number[];
  seconds: number;
  received: number;
  sent: number;
}

/** The same, as processes exchange it. */
export interface TakenCounts extends Omit<Counts, 'statuses'> {
  readonly statuses: Readonly<Record<string, number>>;
}

/** Counts finished requests, by operation. The route table limits the number of operations. */
export class RequestMetrics {
  #counts = new Map<string, Counts>();

  count({ operation, status, milliseconds, bytesIn, bytesOut }: RequestRecord): void {
    const counts = this.#of(operation);
    increase(counts.statuses, `${Math.floor(status / 100)}xx`, 1);
    const seconds = Math.max(0, milliseconds / 1000);
    counts.durations[bounds.findIndex((bound) => seconds <= bound)]! += 1;
    counts.seconds += seconds;
    counts.received += bytesIn;
    counts.sent += bytesOut;
  }

  /** Returns the counts since the last call, for {@link add} of another process. */
  take(): Readonly<Record<string, TakenCounts>> {
    const taken = this.#counts;
    this.#counts = new Map();
    const entries = [...taken].map(
      ([operation, { statuses, ...counts }]) =>
        [operation, { ...counts, statuses: Object.fromEntries(statuses) }] as const,
    );
    return Object.fromEntries(entries);
  }

  /** Adds the counts of another process. */
  add(taken: Readonly<Record<string, TakenCounts>>): void {
    for (const [operation, { statuses, durations, seconds, received, sent }] of Object.entries(taken)) {
      const counts = this.#of(operation);
      for (const [status, count] of Object.entries(statuses)) increase(counts.statuses, status, count);
      durations.forEach((count, at) => (counts.durations[at]! += count));
      counts.seconds += seconds;
      counts.received += received;
      counts.sent += sent;
    }
  }

  metrics(): readonly Metric[] {
    const all = [...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1));
    const each = (samples: (counts: Counts, operation: string) => readonly Sample[]): readonly Sample[] =>
      all.flatMap(([operation, counts]) => samples(counts, operation));
    return [
      {
        name: 'stillage_requests_total',
        type: 'counter',
        help: 'Finished requests, by operation and class of status.',
        samples: each(({ statuses }, operation) =>
          [...statuses].map(([status, value]) => ({ labels: { operation, status }, value })),
        ),
      },
      {
        name: 'stillage_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the head of a request to the end of its response.',
        samples: each(durationSamples),
      },
      {
        name: 'stillage_received_bytes_total',
        type: 'counter',
        help: 'Bytes of the bodies of requests.',
        samples: each(({ received: value }, operation) => [{ labels: { operation }, value }]),
      },
      {
        name: 'stillage_sent_bytes_total',
        type: 'counter',
        help: 'Bytes of the bodies of responses.',
        samples: each(({ sent: value }, operation) => [{ labels: { operation }, value }]),
      },
    ];
  }

  #of(operation: string): Counts {
    const known = this.#counts.get(operation);
    if (known) return known;
    const counts = {
      statuses: new Map<string, number>(),
      durations: bounds.map(() => 0),
      seconds: 0,
      received: 0,
      sent: 0,
    };
    this.#counts.set(operation, counts);
    return counts;
  }
}

function increase(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** Adds to each bucket those below it, as Prometheus's buckets are cumulative. */
function durationSamples({ durations, seconds }: Counts, operation: string): readonly Sample[] {
  let count = 0;
  const classes = bounds.map((bound, at): Sample => {
    count += durations[at]!;
    const le = bound === Infinity ? '+Inf' : String(bound);
    return { suffix: '_bucket', labels: { operation, le }, value: count };
  });
  const labels = { operation };
  return [...classes, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: count }];
}
