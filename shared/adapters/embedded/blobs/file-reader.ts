import { close, read } from 'node:fs';
import { promisify } from 'node:util';
import { segmentSize, type BlobChecksums } from './blob-checksums.ts';
import { headerSize } from './blob-file.ts';

const closeFile = promisify(close);
const readFile = promisify(read);

/** The bytes read at once: as many as the processor's cache holds with ease. Each read costs a message to a thread. */
const chunkSize = 512 * 1024;

/** An open blob file. */
export class OpenBlob {
  readonly #file: number;
  readonly #size: number;
  readonly #checksums: BlobChecksums | undefined;

  /**
   * Takes over the file.
   * @param size of the blob, in bytes
   * @param checksums verify what is read; undefined for a blob without them
   */
  constructor(file: number, size: number, checksums: BlobChecksums | undefined) {
    this.#file = file;
    this.#size = size;
    this.#checksums = checksums;
  }

  /**
   * Reads the bytes from `start` up to but not including `end`, and the rest of the segments they touch.
   * @throws BlobDamaged if the bytes of these segments are not those that were written
   */
  async read(start: number, end: number): Promise<Uint8Array> {
    if (this.#checksums === undefined) return readStretch(this.#file, headerSize + start, end - start);
    const from = segmentStart(start);
    const until = Math.min(segmentStart(end + segmentSize - 1), this.#size);
    const bytes = await readStretch(this.#file, headerSize + from, until - from);
    this.#checksums.verify(bytes, from);
    return bytes.subarray(start - from, end - from);
  }

  /**
   * Reads as `read` does, but positions count from the start of the file, whose header is read as a whole.
   * @param memory for what is read, of {@link storedMemory} bytes. The header, if it is read, comes first
   */
  async readStored(start: number, end: number, memory: Buffer): Promise<Uint8Array> {
    const from = start < headerSize ? 0 : headerSize + segmentStart(start - headerSize);
    const last = headerSize + segmentStart(Math.max(0, end - headerSize) + segmentSize - 1);
    const bytes = memory.subarray(0, Math.min(last, headerSize + this.#size) - from);
    await readInto(this.#file, bytes, from);
    if (from === 0) this.#checksums?.verify(bytes.subarray(headerSize), 0);
    else this.#checksums?.verify(bytes, from - headerSize);
    return bytes.subarray(start - from, end - from);
  }

  close(): Promise<void> {
    return closeFile(this.#file);
  }
}

/**
 * Reads a range of an open blob in chunks, one read ahead. Closes the blob at the end, on failure and on `return()`.
 */
export class FileReader implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #blob: OpenBlob;
  readonly #end: number;
  #position: number;
  #ahead: Promise<Uint8Array> | undefined;

  private constructor(blob: OpenBlob, start: number, end: number) {
    this.#blob = blob;
    this.#position = start;
    this.#end = end;
    this.#ahead = this.#readChunk();
  }

  /**
   * Takes over the blob and reads from `start` up to but not including `end`, both within it. Resolves once the first
   * chunk is read; rejects if it cannot be, or is damaged.
   */
  static async open(blob: OpenBlob, start: number, end: number): Promise<FileReader> {
    const reader = new FileReader(blob, start, end);
    try {
      await reader.#ahead;
      return reader;
    } catch (error) {
      await reader.return();
      throw error;
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#ahead === undefined) return { done: true, value: undefined };
    try {
      const chunk = await this.#ahead;
      this.#ahead = this.#position < this.#end ? this.#readChunk() : undefined;
      if (this.#ahead === undefined) await this.#blob.close();
      return { done: false, value: chunk };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) {
      // The descriptor of a file that is closed during a read may already refer to another file when the read uses it.
      await ahead.catch(() => undefined);
      await this.#blob.close();
    }
    return { done: true, value: undefined };
  }

  #readChunk(): Promise<Uint8Array> {
    const start = this.#position;
    // Chunks end with a segment, so that none is read twice.
    this.#position = Math.min(segmentStart(start) + chunkSize, this.#end);
    const chunk = this.#blob.read(start, this.#position);
    // next() reports a failure, but may be called much later or never.
    chunk.catch(() => undefined);
    return chunk;
  }
}

/** Reads this many bytes of an open file into a new buffer. */
export async function readStretch(file: number, start: number, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(size);
  await readInto(file, bytes, start);
  return bytes;
}

/** Returns the size of the memory to read so many bytes of a stored blob at once, in bytes. */
export function storedMemory(bytes: number): number {
  return bytes + headerSize + 2 * segmentSize;
}

async function readInto(file: number, bytes: Buffer, start: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await readFile(file, bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) throw new Error('the file is shorter than recorded');
    done += bytesRead;
  }
}

/** Returns the start of the segment that contains a byte. */
function segmentStart(position: number): number {
  return position - (position % segmentSize);
}
