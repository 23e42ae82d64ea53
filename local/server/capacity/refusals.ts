import { minute } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Scarce } from '../../../shared/protocol/bodies/capacity/bodies-in-flight.ts';

/** The time between two lines of the log: there may be many refusals while the service is busy. */
const interval = minute;

/** Counts refusals because of the capacity, and logs them: at once, and then once a minute as long as they last. */
export class Refusals {
  readonly totals: Record<Scarce, number> = { connections: 0, uploads: 0, documents: 0, downloads: 0, listings: 0 };
  readonly #telemetry: Pick<Telemetry, 'problem'>;
  #untold: Partial<Record<Scarce, number>> = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(telemetry: Pick<Telemetry, 'problem'>) {
    this.#telemetry = telemetry;
  }

  count(of: Scarce): void {
    this.totals[of] += 1;
    this.#untold[of] = (this.#untold[of] ?? 0) + 1;
    if (this.#timer === undefined) this.#tell();
  }

  #tell(): void {
    this.#timer = undefined;
    if (Object.keys(this.#untold).length === 0) return;
    this.#telemetry.problem('at capacity: requests were refused', undefined, this.#untold);
    this.#untold = {};
    this.#timer = setTimeout(() => this.#tell(), interval).unref();
  }
}
