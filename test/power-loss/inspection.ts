import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { forNode } from '../../bin/build.mjs';
import type { Found, Order } from './inspector.ts';

/** The number of starts of the service in one process, after which a new one is forked. */
const inspectionsOfChild = 500;
/** The time in milliseconds after which a service hangs, even on a busy machine. */
const patience = 600_000;

/** Inspects directories in a child process, which damage may end. */
export class Inspector {
  readonly #program: string;
  #child: ChildProcess | undefined;
  #inspected = 0;

  private constructor(program: string) {
    this.#program = program;
  }

  /** Bundles the program of the child process, ./inspector.ts, into a folder, as it is started often. */
  static async bundle(folder: string): Promise<Inspector> {
    const program = join(folder, 'inspector.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'inspector.ts')],
      outfile: program,
      ...forNode,
      external: ['@aws-sdk/*', import.meta.resolve('lmdb')],
      // From any folder.
      alias: { lmdb: import.meta.resolve('lmdb') },
    });
    return new Inspector(program);
  }

  /** Returns the data found in a data directory, or why the service does not start on it. */
  async inspect(order: Order): Promise<{ readonly found: Found } | { readonly failure: string }> {
    if (this.#inspected % inspectionsOfChild === 0) this.close();
    this.#inspected += 1;
    const child = (this.#child ??= fork(this.#program, { execArgv: [] }));
    return new Promise((resolve) => {
      const finish = (result: { readonly found: Found } | { readonly failure: string }): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(result);
      };
      const timer = setTimeout(() => {
        this.close();
        finish({ failure: 'the service did not start' });
      }, patience);
      child.once('message', finish);
      child.once('exit', (code, signal) => {
        this.#child = undefined;
        finish({ failure: `the service ended with ${String(signal ?? code)}` });
      });
      child.send(order);
    });
  }

  close(): void {
    this.#child?.removeAllListeners();
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }
}
