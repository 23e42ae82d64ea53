/** Requests of one class that one project pays for. */
export interface LoggedRequests {
  /** The canonical id of the project. */
  readonly payer: string;
  /** As the log has it. */
  readonly class: string;
  readonly requests: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The log of requests, where it can be asked what is in it. */
export interface RequestLog {
  /**
   * What was logged from one moment to before another, in milliseconds since the epoch, as far as it has arrived: a line for each payer
   * and class. What is not charged is left out.
   */
  between(from: number, until: number): Promise<readonly LoggedRequests[]>;
}
