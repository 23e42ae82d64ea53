import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';
import type { LogLine } from './options.ts';

/** Passes every line of the log to a callback, if there is one. */
export class CallbackTelemetry implements Telemetry {
  readonly #log: (line: LogLine) => void;

  constructor(log: (line: LogLine) => void = () => undefined) {
    this.#log = log;
  }

  request(record: RequestRecord): void {
    this.#log({ ...record, level: 'info', message: 'request' });
  }

  problem(message: string, error?: unknown, fields: Readonly<Record<string, string | number>> = {}): void {
    this.#log({ ...fields, ...(error !== undefined && { error }), level: 'error', message });
  }

  note(message: string, fields: Readonly<Record<string, string | number>> = {}): void {
    this.#log({ ...fields, level: 'info', message });
  }
}
