import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A command of the program that runs in a process of its own, so that requests do not wait for its work. */
export interface ProgramRun {
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  /** Asks it to end. */
  kill(): void;
}

/** The characters of its output that are kept, the last ones. */
const maxOutput = 1_000_000;

/**
 * Runs a command of the program.
 * @param program its file
 * @param onLine gets what it tells on standard error, line by line
 */
export function runProgram(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): ProgramRun {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]
      .setEncoding('utf8')
      .on('data', (text: string) => (output[name] = (output[name] + text).slice(-maxOutput)));
  }
  child.stderr.on('data', (text: string) => {
    const line = text.trimEnd().split('\n').at(-1);
    if (line) onLine(line);
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  return { ended, kill: () => void child.kill() };
}
