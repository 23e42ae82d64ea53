import { execFile } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Calls that fail: their kind, the error, and a text in the path of their files. */
export interface FailingCall {
  readonly kind: 'open' | 'create' | 'write' | 'read' | 'sync' | 'unlink' | 'accept';
  readonly error: 'EIO' | 'EROFS' | 'ENOSPC' | 'EMFILE' | 'ENOMEM';
  readonly path: string;
}

const size = 4096;

/** Lets system calls of a program fail, and moves its clock, while it runs: failing-calls.c. */
export class FailingCalls {
  /** The environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #file: number;

  private constructor(folder: string, library: string, rules: string) {
    this.#folder = folder;
    this.#file = openSync(rules, 'w+');
    this.environment = { LD_PRELOAD: library, FAILING_CALLS: rules, UV_USE_IO_URING: '0' };
    this.none();
  }

  /** @returns why it cannot be used here, if it cannot */
  static async build(): Promise<FailingCalls | string> {
    if (process.platform !== 'linux') return 'LD_PRELOAD needs Linux';
    const folder = await mkdtemp(join(tmpdir(), 'stillage-failing-'));
    const library = join(folder, 'failing-calls.so');
    const source = join(import.meta.dirname, 'failing-calls.c');
    try {
      await promisify(execFile)('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl']);
      return new FailingCalls(folder, library, join(folder, 'rules'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await rm(folder, { recursive: true });
      return 'no C compiler is installed; to run this: apt-get install gcc libc6-dev';
    }
  }

  /** From now on, these calls fail, and no others. */
  fail(...calls: readonly FailingCall[]): void {
    this.#set(calls.map(({ kind, error, path }) => `${kind} ${constants.errno[error]} ${path}\n`).join(''));
  }

  /** From now on, the time of day is ahead by so many seconds, or behind. */
  setClock(seconds: number): void {
    this.#set(`clock ${seconds} -\n`);
  }

  none(): void {
    this.#set('');
  }

  async remove(): Promise<void> {
    closeSync(this.#file);
    await rm(this.#folder, { recursive: true });
  }

  #set(text: string): void {
    const bytes = Buffer.alloc(size);
    bytes.write(text);
    writeSync(this.#file, bytes, 0, size, 0);
  }
}
