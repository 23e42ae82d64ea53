/** The current time, behind a port so that tests can set it. */
export interface Clock {
  /** Returns the milliseconds since the epoch, UTC. */
  now(): number;
  /** Resolves after a number of milliseconds. */
  sleep(milliseconds: number): Promise<void>;
}
