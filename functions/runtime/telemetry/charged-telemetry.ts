import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';
import { chargeOf } from './charges.ts';

/**
 * Adds to the log line of a request which project pays for it, and in which class; shared/metadata/billing/bill-requests.ts sums this up.
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
