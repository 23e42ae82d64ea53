/** Reads documents of hosts that users name. */
export interface WebReader {
  /**
   * Returns the text of a short document. Undefined: it is not there, it is long, or the host is not permitted, or does not answer.
   * Rejects only if reading was broken off because the service stops.
   */
  read(url: string): Promise<string | undefined>;
}
