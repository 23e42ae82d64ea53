import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { patience } from '../runs/patience.ts';
import { asUser } from './as-user.ts';

/** The outcome of a run of the program. */
export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** SIGKILL after so many milliseconds. */
  readonly killAfter?: number;
  /** The id of the user and group to run as, which only root can choose. */
  readonly as?: number;
}

/** Runs `stillage` with these arguments until it ends, as it is expected to do soon. */
export async function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const under = options.as === undefined ? [] : asUser(options.as);
  const [command, ...words] = [...under, process.execPath, 'bin/stillage.cjs', ...args];
  const child = spawn(command!, words, {
    cwd: join(import.meta.dirname, '../../..'),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), options.killAfter ?? patience);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...output });
    });
  });
}
