/** The current time, behind a port so that tests can set it. */
export interface Clock {
  /** Returns the milliseconds since the epoch, UTC. */
  now(): number;
  /**
   * Resolves after a number of milliseconds.
   * @param until ends the sleep earlier when it is aborted. Such a sleep is one of background work: it does not keep the process running
   */
  sleep(milliseconds: number, until?: AbortSignal): Promise<void>;
}
