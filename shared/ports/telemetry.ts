/** The externally visible facts of a request, for the log. Contains no secrets. */
export interface RequestRecord {
  readonly requestId: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly code?: string | undefined;
  readonly project?: string | undefined;
  readonly user?: string | undefined;
  readonly bucket?: string | undefined;
  /** The canonical id of the project that pays: the bucket's owner, otherwise the caller's project. */
  readonly payer?: string | undefined;
  /** The billing class, where bills are computed from the log. */
  readonly class?: string | undefined;
  /** The number of requests that this one represents, if the log is sampled. */
  readonly sampled?: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly milliseconds: number;
}

export interface Telemetry {
  /** Logs one line for a finished request. */
  request(record: RequestRecord): void;
  /** Logs a problem that an operator should see. Logs `error` with its stack; clients never see it. */
  problem(message: string, error?: unknown, fields?: Readonly<Record<string, string | number>>): void;
  /** Logs a fact that an operator may want to know. */
  note(message: string, fields?: Readonly<Record<string, string | number>>): void;
}
