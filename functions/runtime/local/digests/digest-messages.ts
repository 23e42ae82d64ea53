import type { DigestAlgorithm } from '../../../../shared/checksums/running-digest.ts';

/** Bytes in a slot of the ring. */
export type Piece = readonly [start: number, length: number];

/** What a thread of digests is told about a body. */
export type DigestOrder =
  | {
      readonly do: 'start';
      readonly body: number;
      readonly algorithms: readonly DigestAlgorithm[];
      /** Of the {@link DigestRing}. */
      readonly memory: SharedArrayBuffer;
    }
  | { readonly do: 'update'; readonly body: number; readonly slot: number; readonly pieces: readonly Piece[] }
  | { readonly do: 'end' | 'abandon'; readonly body: number };

/** What it replies: that a slot was released for which the body waits, or the digests at the end. */
export interface DigestReply {
  readonly body: number;
  readonly digests?: readonly (readonly [DigestAlgorithm, Uint8Array])[];
}
