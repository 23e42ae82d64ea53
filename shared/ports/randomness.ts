/** A source of unpredictable bytes, behind a port so that model tests can replay a run. */
export interface Randomness {
  bytes(count: number): Uint8Array;
}
