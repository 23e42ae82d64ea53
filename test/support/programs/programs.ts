import { spawn, spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';

/** The outcome of a program. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The bytes written to standard output. */
  readonly bytes: Buffer;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** The exit codes that count as success. Default: only 0. */
  readonly codes?: readonly number[];
}

/** Runs a program to its end. Fails, with all its output, if it ends with an unexpected code. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = spawn(program, args, { cwd: options.cwd, env: environment(options.env), stdio: 'pipe' });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // The exit code shows why a program ended before it had read its whole input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const bytes = Buffer.concat(out);
  const outcome = { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() };
  return expectCode(program, args, outcome, options);
}

/**
 * Returns the outcome of a program.
 * @throws Error with all its output, if it ended with an unexpected code
 */
export function expectCode(
  program: string,
  args: readonly string[],
  outcome: Outcome,
  { codes = [0] }: RunOptions,
): Outcome {
  const { code, stdout, stderr } = outcome;
  if (code !== null && codes.includes(code)) return outcome;
  const said = `${stdout}\n${stderr}`.trim().slice(-4000);
  throw new Error(`${program} ${args.join(' ')}\nended with ${String(code)}: ${said}`);
}

/** Returns the environment of a program without the developer's own settings of S3 and of proxies, which must not affect a test. */
export function environment(given?: RunOptions['env']): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS|RCLONE|RESTIC|S3)_|_proxy$/i.test(name));
  return { ...Object.fromEntries(own), LC_ALL: 'C.UTF-8', ...given };
}

/** Returns true if a program runs with `args`. A version manager's stub without a program fails. */
export function isInstalled(program: string, args: readonly string[] = ['--version']): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Skips a test, and prints the reason, which the reporter does not. */
export function skip(context: TestContext, reason: string): void {
  console.warn(`SKIPPED, ${context.task.fullName}: ${reason}`);
  context.skip(reason);
}
