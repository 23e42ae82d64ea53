import type { RequestMeter } from '../../../shared/metadata/billing/request-meter.ts';
import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';
import { chargeOf } from './charges.ts';

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
