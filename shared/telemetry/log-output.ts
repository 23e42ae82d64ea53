import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** The bytes that may wait for a reader of the log who does not keep up. */
const mostWaiting = 1024 * 1024;

/** What became of the lines of the log. */
export interface LogState {
  /** Whether the last lines could be written. */
  readonly isWritten: boolean;
  /** The lines that were dropped since the start. */
  readonly dropped: number;
}

/**
 * Standard output as the log of a service. A line is never worth the service: lines that cannot be written, because the disk is full or
 * nobody reads the pipe, are dropped and counted, and later ones are written as soon as that works again.
 */
export class LogOutput implements LogState {
  readonly isTTY: boolean;
  /** Called before the first lines that could be written after others were dropped. @returns a line that says so */
  onRecovery: (dropped: number) => string = () => '';
  readonly #stream: Writable;
  readonly #write: (bytes: Buffer) => boolean;
  #isWritten = true;
  #dropped = 0;
  /** The dropped lines that no line has told of. */
  #untold = 0;

  /** @param stream process.stdout @param descriptor its file descriptor */
  constructor(stream: Writable & { readonly isTTY?: boolean }, descriptor: number) {
    this.isTTY = stream.isTTY === true;
    this.#stream = stream;
    const lose = (bytes: Buffer): void => this.drop(linesOf(bytes));
    this.#write = isStream(descriptor, this.isTTY) ? streamWriter(stream, lose) : fileWriter(descriptor);
  }

  get isWritten(): boolean {
    return this.#isWritten;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Writes whole lines, or drops them. */
  write(lines: string | Uint8Array): void {
    const bytes = Buffer.from(lines);
    const told = this.#untold;
    this.#isWritten = this.#write(told === 0 ? bytes : Buffer.concat([Buffer.from(this.onRecovery(told)), bytes]));
    if (this.#isWritten) this.#untold -= told;
    else this.drop(linesOf(bytes));
  }

  /**
   * Waits until the lines are read that still wait for their reader, at most so many milliseconds.
   * @returns whether they are: as long as they wait, the process does not end by itself
   */
  async drained(patience: number): Promise<boolean> {
    const isWaiting = (): boolean => !this.#stream.destroyed && this.#stream.writableLength > 0;
    if (!isWaiting()) return true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.#stream.write('', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    return !isWaiting();
  }

  /** Counts lines that were dropped on their way here. */
  drop(lines: number): void {
    this.#dropped += lines;
    this.#untold += lines;
  }
}

/** Tells whether Node writes to a descriptor without waiting: to a pipe or a socket. */
function isStream(descriptor: number, isTTY: boolean): boolean {
  try {
    const kind = fstatSync(descriptor);
    return isTTY || kind.isFIFO() || kind.isSocket();
  } catch {
    return false;
  }
}

/** @param lose is called for bytes that waited for a reader who has gone */
function streamWriter(stream: Writable, lose: (bytes: Buffer) => void): (bytes: Buffer) => boolean {
  return (bytes) => {
    if (stream.destroyed || stream.writableLength > mostWaiting) return false;
    stream.write(bytes, (error) => {
      if (error) lose(bytes);
    });
    return true;
  };
}

/** Writes to the file itself: Node's stream ends with the first error, also if there is room again later. */
function fileWriter(descriptor: number): (bytes: Buffer) => boolean {
  let isTorn = false;
  return (bytes) => {
    // Half a line stands there.
    const whole = isTorn ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes;
    let written = 0;
    try {
      while (written < whole.byteLength) written += writeSync(descriptor, whole, written);
      isTorn = false;
      return true;
    } catch {
      if (written > 0) isTorn = true;
      return false;
    }
  };
}

function linesOf(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
}
