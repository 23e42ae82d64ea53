import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { patience } from '../runs/patience.ts';
import { coverageEnvironment } from './coverage.ts';
import type { Run } from './program.ts';

const root = join(import.meta.dirname, '../../..');

interface Answer {
  readonly id: number;
  readonly ended: Run;
}

let host: ChildProcess | undefined;
let asked = 0;
const waiting = new Map<number, Waiting>();

interface Waiting {
  readonly resolve: (run: Run) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs `stillage` with these arguments in a process that has loaded it already, after the commands that were asked for before: starting
 * one takes more processor time than most commands. What is about processes (kills, signals, pipes, other users) starts the program: ./program.ts.
 */
export async function runWarm(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  host ??= start();
  const id = ++asked;
  const sender = host;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`stillage ${args.join(' ')} did not end`)), patience);
      waiting.set(id, { resolve, reject });
      sender.send({ id, args, env });
    });
  } finally {
    clearTimeout(timer);
    waiting.delete(id);
  }
}

function start(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'program-host.mjs'), {
    cwd: root,
    env: { ...process.env, ...coverageEnvironment },
    execArgv: [],
  });
  child.on('message', ({ id, ended }: Answer) => waiting.get(id)?.resolve(ended));
  child.once('exit', (code, signal) => {
    host = undefined;
    for (const { reject } of waiting.values()) reject(new Error(`the program ended with ${code ?? signal}`));
  });
  // Neither keeps the tests from ending: it ends when they have.
  child.unref();
  child.channel?.unref();
  return child;
}
