import type { RequestMeter } from '../../shared/metadata/billing/request-meter.ts';
import type { RequestRecord, Telemetry } from '../../shared/ports/telemetry.ts';
import { requestClassOf } from '../../shared/protocol/request-classes.ts';

/**
 * Counts for the bill what passes on its way to the log. Nobody pays for what was refused, which strangers could bring about, nor
 * for what failed.
 */
export class MeteredTelemetry implements Telemetry {
  readonly #telemetry: Telemetry;
  readonly #meter: RequestMeter;

  constructor(telemetry: Telemetry, meter: RequestMeter) {
    this.#telemetry = telemetry;
    this.#meter = meter;
  }

  request({ payer, ...record }: RequestRecord): void {
    const { operation, status, bytesIn, bytesOut } = record;
    if (payer !== undefined && status !== 403 && status < 500) {
      this.#meter.count({ project: payer, class: requestClassOf(operation), bytesIn, bytesOut });
    }
    this.#telemetry.request(record);
  }

  problem(...problem: Parameters<Telemetry['problem']>): void {
    this.#telemetry.problem(...problem);
  }

  note(...note: Parameters<Telemetry['note']>): void {
    this.#telemetry.note(...note);
  }
}
