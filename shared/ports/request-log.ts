/** The requests of one class that one project pays for. */
export interface LoggedRequests {
  /** The canonical id of the project. */
  readonly payer: string;
  /** The class as logged. */
  readonly class: string;
  readonly requests: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** A log of requests that can be queried. */
export interface RequestLog {
  /**
   * Sums up the requests logged from one moment to before another, in milliseconds since the epoch, as far as the log
   * has received them: one entry per payer and class. Omits requests that are not charged.
   */
  between(from: number, until: number): Promise<readonly LoggedRequests[]>;
}
