/** What one request looked like from outside. Nothing in it is secret. */
export interface RequestRecord {
  readonly requestId: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly code?: string;
  readonly project?: string;
  readonly user?: string;
  readonly bucket?: string;
  /** The canonical id of the project that pays: the bucket's, or else the caller's. */
  readonly payer?: string;
  /** What it is charged as, where the log is what the bill is made of. */
  readonly class?: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly milliseconds: number;
}

export interface Telemetry {
  /** One line for a finished request. */
  request(record: RequestRecord): void;
  /** Something an operator should see. `error` is logged with its stack, never shown to a user. */
  problem(message: string, error?: unknown, fields?: Readonly<Record<string, string | number>>): void;
  /** Something an operator may want to know. */
  note(message: string, fields?: Readonly<Record<string, string | number>>): void;
}
