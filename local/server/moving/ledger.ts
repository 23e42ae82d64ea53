/**
 * How two ends differ: something is missing that the source has; or there, but not in all respects the same; or there, and not at the
 * source.
 */
export type Kind = 'missing' | 'changed' | 'extra';

/** Something that is not the same at both ends. */
export interface Difference {
  readonly kind: Kind;
  readonly bucket: string;
  readonly key?: string | undefined;
  /** Undefined: the key as a whole, or the object without versions. */
  readonly version?: string | undefined;
  readonly what: string;
}

/** The number of differences that are kept to be shown at the end. */
const maxExamples = 1000;

/** What a move has done, and what it could not do. */
export class Ledger {
  versions = 0;
  markers = 0;
  bytes = 0;
  same = 0;
  removed = 0;
  /** Settings of buckets that were copied. */
  settings = 0;
  readonly differences: Record<Kind, number> = { missing: 0, changed: 0, extra: 0 };
  readonly examples: Difference[] = [];
  readonly #onProgress: () => void;
  readonly #onDifference: (difference: Difference) => void;

  constructor(onProgress: () => void, onDifference: (difference: Difference) => void) {
    this.#onProgress = onProgress;
    this.#onDifference = onDifference;
  }

  /** Counts a version, or a delete marker, that was copied. */
  copied({ marker, size }: { readonly marker: boolean; readonly size: number }): void {
    if (marker) this.markers += 1;
    else this.versions += 1;
    this.bytes += size;
    this.#onProgress();
  }

  /** Notes a difference that stays. */
  note(kind: Kind, at: Omit<Difference, 'kind' | 'what'>, what: string): void {
    const difference = { kind, ...at, what };
    this.differences[kind] += 1;
    if (this.examples.length < maxExamples) this.examples.push(difference);
    this.#onDifference(difference);
  }
}
