import type { DigestAlgorithm } from '../../../../shared/checksums/running-digest.ts';

/** A range of bytes in a slot of the ring. */
export type Piece = readonly [start: number, length: number];

/** A message about a body to a thread that computes digests. */
export type DigestOrder =
  | {
      readonly do: 'start';
      readonly body: number;
      readonly algorithms: readonly DigestAlgorithm[];
      /** The memory of the {@link DigestRing}. */
      readonly memory: SharedArrayBuffer;
    }
  | { readonly do: 'update'; readonly body: number; readonly slot: number; readonly pieces: readonly Piece[] }
  | { readonly do: 'end' | 'abandon'; readonly body: number };

/** The thread's reply: it released a slot that the body waits for, or has the digests of the whole body. */
export interface DigestReply {
  readonly body: number;
  readonly digests?: readonly (readonly [DigestAlgorithm, Uint8Array])[];
}
