import type { Randomness } from '../ports/randomness.ts';

/** Returns a generator of request ids: 21 characters in the form of Ceph RGW's, unique in practice. */
export function requestIds(randomness: Randomness): () => string {
  return () => `tx${Buffer.from(randomness.bytes(10)).toString('hex').slice(0, 19)}`;
}
