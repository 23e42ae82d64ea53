import type { Comparison } from './key-plan.ts';
import type { SourceVersion } from './source-listing.ts';

/** A key of a bucket that is copied to. */
export interface HeldKey<Held> {
  readonly key: string;
  /** Returns its versions, oldest first. */
  versions(): Promise<readonly Held[]>;
}

/** A version to copy. */
export interface Copy<Held> {
  readonly key: string;
  readonly version: SourceVersion;
  /** The current version there, on top of which it is put. */
  readonly above: Held | undefined;
  /** Called with what the copy lacks, or has otherwise. */
  readonly onLoss: (what: string) => void;
}

/** A bucket that is copied to. `Held` is a version, or a delete marker, in it. */
export interface Destination<Held> extends Comparison<Held> {
  readonly bucket: string;
  readonly where: 'here' | 'there';
  /** Whether versions are also put on top of one that the source does not have. */
  readonly covers: boolean;
  /** Lists keys in the order of their UTF-8 bytes. */
  keys(prefix: string): AsyncGenerator<HeldKey<Held>>;
  idOf(held: Held): string | undefined;
  /** @throws NotCopied, and what is not about the version alone */
  copy(copy: Copy<Held>): Promise<Held>;
  remove(key: string, held: Held): Promise<'removed' | 'locked'>;
}

/** A version that was not copied, and why. */
export class NotCopied extends Error {
  /** Nothing would change that: newer versions of the key need not wait for it. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false }: { readonly isFinal?: boolean } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}
