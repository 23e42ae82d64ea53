/** Unpredictable bytes, so that model tests can replay a run. */
export interface Randomness {
  bytes(count: number): Uint8Array;
}
