import type { Randomness } from '../../../shared/ports/randomness.ts';

/** Ids of requests: 21 characters, unique in practice, in the form that Ceph RGW gives them. */
export function requestIds(randomness: Randomness): () => string {
  return () => `tx${Buffer.from(randomness.bytes(10)).toString('hex').slice(0, 19)}`;
}
