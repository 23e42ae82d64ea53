import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { fastFolder } from '../disks/fast-folder.ts';
import { join } from 'node:path';
import type { Place } from '../storage/administration.ts';
import { coverageEnvironment } from './coverage.ts';
import { sharedPlaceIn } from './shared-stores.ts';

/** The accounts that tests declare: two projects that are strangers to one another. */
export const accounts = [
  {
    project: 'main@example.test',
    id: '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
    displayName: 'main',
    users: [{ name: 'alice', keys: [{ accessKeyId: 'AKALICE', secretAccessKey: 'alice-secret-key/+=' }] }],
  },
  {
    project: 'other@example.test',
    id: 'other-canonical-id',
    displayName: 'other',
    users: [{ name: 'bob', keys: [{ accessKeyId: 'main:bob@example.test/x', secretAccessKey: 'bob-secret-key' }] }],
  },
] as const;

export const alice = accounts[0].users[0].keys[0];
export const bob = accounts[1].users[0].keys[0];

/** The console's origin in the settings of every service, whether or not it has a console. */
export const consoleOrigin = 'https://console.example.test';

export interface ServiceOptions {
  /** Use, and keep, this data directory. */
  readonly data?: string;
  /** False: declare none, so that the service creates a first key. */
  readonly accounts?: false;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the service under another program: `['strace', '-f', …]`. */
  readonly under?: readonly string[];
  /** True: no other file uses it, so that its process, its log and its data can be examined. */
  readonly alone?: true;
  /** The root of another version of the program. Default: this clone. */
  readonly root?: string;
}

/** A service in a separate process, started as a user starts it. */
export interface Service {
  readonly url: string;
  readonly port: number;
  readonly data: string;
  /** The target of administrative commands. */
  readonly place: Place;
  readonly process: ChildProcess;
  /** The id of the service's own process, also where it runs under another program. */
  readonly pid: number;
  /** The output up to now. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** The log lines of finished requests, as far as they have been written. */
  requests(): readonly Record<string, unknown>[];
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Starts `stillage start` on a free port and waits until it listens. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const folder = await mkdtemp(join(await fastFolder(), 'stillage-test-'));
  const data = options.data ?? join(folder, 'data');
  const accountsFile = join(folder, 'accounts.json');
  await writeFile(accountsFile, JSON.stringify(accounts));
  const declared = options.accounts === false ? [] : ['--accounts', accountsFile];
  const shared = options.data === undefined ? sharedPlaceIn(folder) : undefined;
  const place = shared?.place ?? { args: ['--data', data], env: {} };
  const stores = [...place.args, ...(shared?.blobs ?? [])];
  const program = ['bin/stillage.cjs', 'start', '--port', '0', ...stores, ...declared];
  // In the environment, because an earlier release ignores settings that it does not know there.
  const console = { STILLAGE_CONSOLE_PORT: '0', STILLAGE_CONSOLE_ORIGIN: consoleOrigin };
  // The same on every machine: only tests that request it have several processes.
  const alone = { STILLAGE_WORKERS: '1' };
  const [command, ...args] = [...(options.under ?? []), process.execPath, ...program, ...(options.args ?? [])];
  const child = spawn(command!, args, {
    cwd: options.root ?? join(import.meta.dirname, '../../..'),
    env: { ...alone, ...process.env, ...coverageEnvironment, ...console, ...shared?.credentials, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
      const listening = /listening on (\S+)/.exec(output.stderr);
      if (listening) resolve(listening[1]!);
    });
    void exited.then((code) => reject(new Error(`the service ended with ${String(code)}: ${output.stderr}`)));
  });
  const pid = options.under ? await onlyChildOf(child.pid!) : child.pid!;
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
    const code = await exited;
    await rm(folder, { recursive: true, force: true });
    return code;
  };
  return {
    url,
    port: Number(new URL(url).port),
    data,
    place,
    process: child,
    pid,
    output,
    requests: () =>
      output.stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['message'] === 'request'),
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

async function onlyChildOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
}
