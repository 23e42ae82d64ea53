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
  /** The exit codes that are no failure; 0 alone, if not said. */
  readonly codes?: readonly number[];
}

/** Runs a program to its end. Fails, with all that it said, if it ends with an unexpected code. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = spawn(program, args, { cwd: options.cwd, env: environment(options.env), stdio: 'pipe' });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A program that ends before it has read everything says why by its code.
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

/** Returns how a program ended. @throws Error with all that it said, if it ended with an unexpected code */
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

/** The environment of a program: what the developer's own says of S3 and of proxies must not reach a test. */
export function environment(given?: RunOptions['env']): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS|RCLONE|RESTIC|S3)_|_proxy$/i.test(name));
  return { ...Object.fromEntries(own), LC_ALL: 'C.UTF-8', ...given };
}

/** Returns true if a program runs with `args`. A version manager's stub without a program fails. */
export function isInstalled(program: string, args: readonly string[] = ['--version']): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Skips a test, and says so where the reporter would not. */
export function skip(context: TestContext, reason: string): void {
  console.warn(`SKIPPED, ${context.task.fullName}: ${reason}`);
  context.skip(reason);
}
