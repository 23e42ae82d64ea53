/** The requests of one class that one project pays for. */
export interface LoggedRequests {
  /** The canonical id of the project. */
  readonly payer: string;
  /** The class as logged. */
  readonly class: string;
  readonly requests: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Set where what was logged is the use of a key. */
  readonly use?: LoggedUse | undefined;
}

/** A use of an access key, or of a role. */
interface LoggedUse {
  /** Its id. */
  readonly id: string;
  readonly service: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** A log of requests that can be queried. */
export interface RequestLog {
  /**
   * Sums up the requests logged from one moment to before another, in milliseconds since the epoch, as far as the log
   * has received them: one entry per payer and class, and per key used. Omits requests that are not charged.
   */
  between(from: number, until: number): Promise<readonly LoggedRequests[]>;
}
