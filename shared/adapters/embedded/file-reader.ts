import { close, read } from 'node:fs';
import { promisify } from 'node:util';

const closeFile = promisify(close);
const readFile = promisify(read);

/** The first chunk is small, so that it is sent soon; the others are large, so that one core can saturate a network. */
const firstChunk = 256 * 1024;
const laterChunk = 512 * 1024;

/**
 * Reads a range of an open file in chunks, one read ahead. Closes the file at the end, on failure and on `return()`.
 */
export class FileReader implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #file: number;
  readonly #end: number;
  #position: number;
  #ahead: Promise<Uint8Array> | undefined;

  /** Takes over the file and reads from `start` up to but not including `end`, both within the file. */
  constructor(file: number, start: number, end: number) {
    this.#file = file;
    this.#position = start;
    this.#end = end;
    this.#ahead = this.#readChunk(firstChunk);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#ahead === undefined) return { done: true, value: undefined };
    try {
      const chunk = await this.#ahead;
      this.#ahead = this.#position < this.#end ? this.#readChunk(laterChunk) : undefined;
      if (this.#ahead === undefined) await closeFile(this.#file);
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
      await closeFile(this.#file);
    }
    return { done: true, value: undefined };
  }

  #readChunk(most: number): Promise<Uint8Array> {
    const start = this.#position;
    this.#position = Math.min(start + most, this.#end);
    const chunk = readStretch(this.#file, start, this.#position - start);
    // next() reports a failure, but may be called much later or never.
    chunk.catch(() => undefined);
    return chunk;
  }
}

/** Reads this many bytes of an open file into a new buffer. */
export async function readStretch(file: number, start: number, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(size);
  for (let done = 0; done < size;) {
    const { bytesRead } = await readFile(file, bytes, done, size - done, start + done);
    if (bytesRead === 0) throw new Error('the file is shorter than recorded');
    done += bytesRead;
  }
  return bytes;
}
