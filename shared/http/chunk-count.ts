import { S3Error } from '../errors/s3-error.ts';

/** The chunks that a body may have whatever their size, as a slow source sends them. */
const freeChunks = 4096;
/** The bytes that all further chunks must have on average. */
const bytesPerChunk = 64;

/** Counts the chunks of a body. Each takes time whatever its size, so a body of tiny ones would take more than any other request. */
export class ChunkCount {
  #chunks = 0;
  #bytes = 0;

  /** Counts a chunk. @param bytes its data */
  add(bytes: number): void {
    this.#chunks += 1;
    this.#bytes += bytes;
  }

  /** Whether the body has an absurd number of chunks for its size. */
  get isAbsurd(): boolean {
    return this.#chunks > freeChunks && (this.#chunks - freeChunks) * bytesPerChunk > this.#bytes;
  }

  /** @throws S3Error InvalidChunkSizeError if the body has too many chunks for its size */
  check(): void {
    if (!this.isAbsurd) return;
    throw new S3Error('InvalidChunkSizeError', {
      message: `The chunks of the body are too small: after the first ${freeChunks}, they must have ${bytesPerChunk} bytes on average.`,
    });
  }
}
