import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A server of the byte lane as it is deployed, from its bundle, in a process of its own with nothing but its environment. */
export class ByteLaneProcess {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #output: { text: string };

  private constructor(child: ChildProcess, output: { text: string }, port: number) {
    this.#child = child;
    this.#output = output;
    this.port = port;
  }

  static async start(environment: Readonly<Record<string, string>>): Promise<ByteLaneProcess> {
    const child = spawn(process.execPath, [join(root, 'bin/byte-lane.mjs')], {
      env: { ...environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => child.kill('SIGKILL'));
    const output = { text: '' };
    const port = await new Promise<number>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output.text += text;
          const found = /listens on port (\d+)/.exec(output.text);
          if (found) resolve(Number(found[1]));
        });
      }
      child.once('exit', (code) => reject(new Error(`the byte lane ended with ${String(code)}: ${output.text}`)));
    });
    return new ByteLaneProcess(child, output, port);
  }

  get log(): string {
    return this.#output.text;
  }

  /** SIGTERM, as when a task is stopped, and the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    this.#child.kill('SIGTERM');
    const [code] = (await once(this.#child, 'exit')) as [number | null];
    return code;
  }
}
