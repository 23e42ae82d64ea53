import { readFileSync } from 'node:fs';

const MiB = 1024 * 1024;

/** Watches how much memory a process has in use. Only where the system tells. */
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

  /** The most the process ever had, in MiB, whether or not anybody looked. */
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
