import type { RequestClass } from '../billing/request-meter.ts';
import { second } from '../ports/durations.ts';
import type { RequestRecord, Telemetry } from '../ports/telemetry.ts';
import { chargeOf } from './charged-telemetry.ts';

/** The interval of {@link CountingTelemetry.flush} in milliseconds: as much of the bill is lost with a server that is killed. */
export const countingInterval = 5 * second;

/** Successful requests per line in the log. */
const sampling = 100;

/** The requests of a project in a class, as a line of the log. */
interface Counted {
  readonly payer: string;
  readonly class: RequestClass;
  requests: number;
  bytesIn: number;
  bytesOut: number;
}

/**
 * Counts charged requests in memory, and logs a line `requests` for each payer and class from time to time, from which
 * shared/adapters/cloud/log-insights.ts computes the bill. Of the requests themselves it logs those that failed and a sample of the others,
 * without a class: they are not charged again. For processes that run on between requests; see {@link ChargedTelemetry} for functions.
 */
export class CountingTelemetry implements Telemetry {
  readonly #telemetry: Telemetry;
  #counted = new Map<string, Counted>();
  #successes = 0;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  request(record: RequestRecord): void {
    this.#count(record);
    if (record.status >= 400) this.#telemetry.request(record);
    else if (this.#successes++ % sampling === 0) this.#telemetry.request({ ...record, sampled: sampling });
  }

  problem(...problem: Parameters<Telemetry['problem']>): void {
    this.#telemetry.problem(...problem);
  }

  note(...note: Parameters<Telemetry['note']>): void {
    this.#telemetry.note(...note);
  }

  /** Logs the counts since the last call. */
  flush(): void {
    const counted = this.#counted;
    this.#counted = new Map();
    for (const line of counted.values()) this.#telemetry.note('requests', { ...line });
  }

  #count(record: RequestRecord): void {
    const charge = chargeOf(record);
    if (charge === undefined) return;
    const name = `${charge.class} ${charge.project}`;
    const none = { payer: charge.project, class: charge.class, requests: 0, bytesIn: 0, bytesOut: 0 };
    const counted = this.#counted.get(name) ?? none;
    counted.requests += 1;
    counted.bytesIn += charge.bytesIn;
    counted.bytesOut += charge.bytesOut;
    this.#counted.set(name, counted);
  }
}
