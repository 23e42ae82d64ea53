import type { User } from '../access/identity.ts';
import type { UseOfKey } from '../accounts/key-uses.ts';
import type { MeteredRequest, RequestMeter } from '../billing/request-meter.ts';
import type { RequestRecord, Telemetry } from '../ports/telemetry.ts';
import { requestClassOf } from '../protocol/operation-table.ts';

/**
 * Returns how a request is charged, and to which project; undefined if it is free. Refused requests are free, as strangers could
 * cause them, and so are failed ones.
 */
export function chargeOf({ payer, operation, status, bytesIn, bytesOut }: RequestRecord): MeteredRequest | undefined {
  if (payer === undefined || status === 403 || status >= 500) return undefined;
  return { project: payer, class: requestClassOf(operation), bytesIn, bytesOut };
}

/**
 * Adds to the log line of a request which project pays for it, and in which class; shared/billing/bill-requests.ts sums this up.
 * A Lambda function may be frozen with its answer and never resume, so a log line is the only record without extra cost.
 */
export class ChargedTelemetry implements Telemetry {
  readonly #telemetry: Telemetry;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  request(record: RequestRecord): void {
    const charge = chargeOf(record);
    const { payer: _, ...logged } = record;
    this.#telemetry.request({ ...logged, ...(charge && { payer: charge.project, class: charge.class }) });
  }

  problem(...problem: Parameters<Telemetry['problem']>): void {
    this.#telemetry.problem(...problem);
  }

  note(...note: Parameters<Telemetry['note']>): void {
    this.#telemetry.note(...note);
  }
}

/**
 * Logs that a key was used, in a line of no requests, so that one query of the log finds both: shared/billing/bill-requests.ts stores when that
 * was. Most functions may not write into the table.
 */
export function logUse(log: Telemetry, { id, at, service }: UseOfKey, { project }: User): void {
  const nothing = { payer: project.id, class: 'free', requests: 0, bytesIn: 0, bytesOut: 0 };
  log.note('requests', { ...nothing, usedKey: id, usedFor: service, usedAt: at });
}

/** Counts requests for billing as they are logged, where one process serves all requests and saves the counts. */
export class MeteredTelemetry implements Telemetry {
  readonly #telemetry: Telemetry;
  readonly #meter: RequestMeter;

  constructor(telemetry: Telemetry, meter: RequestMeter) {
    this.#telemetry = telemetry;
    this.#meter = meter;
  }

  request(record: RequestRecord): void {
    const charge = chargeOf(record);
    if (charge) this.#meter.count(charge);
    // Many times faster than to leave it out.
    this.#telemetry.request({ ...record, payer: undefined });
  }

  problem(...problem: Parameters<Telemetry['problem']>): void {
    this.#telemetry.problem(...problem);
  }

  note(...note: Parameters<Telemetry['note']>): void {
    this.#telemetry.note(...note);
  }
}
