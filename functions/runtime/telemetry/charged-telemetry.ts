import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';
import { chargeOf } from './charges.ts';

/**
 * Writes into the line of a request who pays for it, and as what; shared/metadata/billing/bill-requests.ts adds that up. In the cloud
 * requests end in processes that may be frozen with the answer and never wake again: a line is all that costs them nothing.
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
