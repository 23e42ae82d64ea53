import { readFileSync } from 'node:fs';

const MiB = 1024 * 1024;

/** Samples the memory of a process, on systems that provide it. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(pid: number, every = 20) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), every);
  }

  static readonly isPossible = process.platform === 'linux';

  /** The most that was seen since this was asked before, in MiB. */
  peak(): number {
    this.#look();
    const peak = this.#peak;
    this.#peak = 0;
    return Math.round(peak / MiB);
  }

  /** Returns the peak memory of the process in MiB, including peaks between samples. */
  highWaterMark(): number {
    return Math.round(this.#read('VmHWM') / MiB);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, this.#read('VmRSS'));
  }

  #read(name: string): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024;
  }
}
