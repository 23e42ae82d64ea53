import { loadDigest, startDigest, type DigestAlgorithm, type RunningDigest } from '../../checksums/running-digest.ts';

/** The digests of all bytes of a body, big-endian. */
export type DigestValues = ReadonlyMap<DigestAlgorithm, Uint8Array>;

/** Digests of one body, computed while it is streamed. */
export interface BodyDigests {
  /** Takes the next bytes. They may be changed once it has returned; if it returns a promise, once that is resolved. */
  update(bytes: Uint8Array): Promise<void> | undefined;
  /** Returns the digests. May be called once only. */
  end(): DigestValues | Promise<DigestValues>;
  /** Ends without digests, since the body broke off. Has no effect after {@link end}. */
  abandon(): void;
}

/** Computes digests of large bodies in other threads. */
export interface DigestThreads {
  /**
   * Starts digests of a body of this many bytes. Returns undefined if the caller should compute them: for a small body, or while the
   * threads are busy.
   */
  start(algorithms: readonly DigestAlgorithm[], length: number): BodyDigests | undefined;
}

/** Starts digests of a body: in other threads, if there are any and it is large, otherwise in this one. */
export async function startBodyDigests(
  algorithms: readonly DigestAlgorithm[],
  length: number | undefined,
  threads: DigestThreads | undefined,
): Promise<BodyDigests> {
  if (algorithms.length > 0 && length !== undefined) {
    const elsewhere = threads?.start(algorithms, length);
    if (elsewhere !== undefined) return elsewhere;
  }
  for (const algorithm of algorithms) await loadDigest(algorithm);
  return new DigestsHere(algorithms);
}

const sha256OfNothing = Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex');

/** Digests computed in this thread. */
class DigestsHere implements BodyDigests {
  readonly #algorithms: readonly DigestAlgorithm[];
  /** Started with the first bytes: most requests have none, and the digest of an empty body is a constant. */
  #running: readonly RunningDigest[] | undefined;

  constructor(algorithms: readonly DigestAlgorithm[]) {
    this.#algorithms = algorithms;
  }

  update(bytes: Uint8Array): undefined {
    for (const digest of (this.#running ??= this.#algorithms.map(startDigest))) digest.update(bytes);
  }

  end(): DigestValues {
    const running = this.#running;
    return new Map(
      this.#algorithms.map((algorithm, at) => {
        if (running !== undefined) return [algorithm, running[at]!.digest()];
        return [algorithm, algorithm === 'SHA256' ? sha256OfNothing : startDigest(algorithm).digest()];
      }),
    );
  }

  abandon(): void {
    // No thread to stop: digests are computed here.
  }
}
