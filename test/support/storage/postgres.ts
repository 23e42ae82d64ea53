import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../runs/free-port.ts';
import { patience } from '../runs/patience.ts';

/** A server of PostgreSQL. */
export interface Postgres {
  /** `postgres://stillage@127.0.0.1:54321/postgres` */
  readonly url: string;
  /** Ends it at once, as a loss of its process would: `pg_ctl stop -m immediate`. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, on the same data and port. */
  restart(): Promise<void>;
  /** Stops all its processes where they are, as a machine that is paused: its connections stay, and nothing is answered. */
  pause(): void;
  /** Lets it go on after {@link pause}, as if nothing had happened. */
  resume(): void;
  /** Makes a standby a server of its own, which takes writes: `pg_ctl promote`. */
  promote(): Promise<void>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

/** Where distributions put the programs of the server, besides the PATH. */
function programDirectory(): string {
  const versions = '/usr/lib/postgresql';
  const newest = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => Number(b) - Number(a))[0] : undefined;
  return newest === undefined ? '' : join(versions, newest, 'bin');
}

/**
 * Starts a server with an empty database on a free port, with data in a temporary directory.
 * @param more arguments of it
 * @throws Error if PostgreSQL is not installed
 */
export function startPostgres(...more: readonly string[]): Promise<Postgres> {
  const initial = ['-U', 'stillage', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  return startOn((data) => ({ program: 'initdb', args: ['-D', data, ...initial] }), more);
}

/** Starts a standby of a server, with a copy of its data, on a port of its own. Replication is asynchronous unless the server says otherwise. */
export function startStandby(of: Postgres, ...more: readonly string[]): Promise<Postgres> {
  const copying = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync', '-d', of.url];
  return startOn((data) => ({ program: 'pg_basebackup', args: ['-D', data, ...copying] }), more);
}

/** @param making the program that makes the data directory */
async function startOn(
  making: (data: string) => { readonly program: string; readonly args: readonly string[] },
  more: readonly string[],
): Promise<Postgres> {
  const directory = mkdtempSync(join(tmpdir(), 'stillage-postgres-'));
  const data = join(directory, 'data');
  const user = postgresUser();
  if (user) chownSync(directory, user.uid, user.gid);
  const options = { ...user, cwd: directory };
  const run = async (program: string, args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(join(programDirectory(), program), args, options);
  const { program, args } = making(data);
  await run(program, args);
  const port = String(await freePort());
  const url = `postgres://stillage@127.0.0.1:${port}/postgres`;
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    const own = ['-D', data, '-p', port, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
    server = spawn(join(programDirectory(), 'postgres'), [...own, ...more], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await isReady(server);
  };
  const isOver = (): boolean => server.exitCode !== null || server.signalCode !== null;
  let paused: readonly number[] = [];
  const pause = (): void => {
    // Before its children: it starts no others then.
    server.kill('SIGSTOP');
    paused = childrenOf(server.pid!);
    for (const pid of paused) process.kill(pid, 'SIGSTOP');
  };
  const resume = (): void => {
    for (const pid of paused) process.kill(pid, 'SIGCONT');
    paused = [];
    server.kill('SIGCONT');
  };
  const onExit = (): void => {
    server.kill('SIGQUIT');
    resume();
  };
  const end = async (): Promise<void> => {
    if (isOver()) return;
    onExit();
    await once(server, 'exit');
  };
  await start();
  process.once('exit', onExit);
  return {
    url,
    kill: end,
    restart: start,
    pause,
    resume,
    promote: async () => void (await run('pg_ctl', ['promote', '-D', data, '-w', '-t', String(patience / 1000)])),
    stop: async () => {
      process.off('exit', onExit);
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Waits until it takes connections. Reads on, as a full pipe would stop it. */
function isReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    const limit = setTimeout(() => reject(new Error(`PostgreSQL does not start: ${log}`)), patience);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
    server.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      // A standby takes "read-only connections".
      if (!/ready to accept (?:read-only )?connections/.test(log)) return;
      clearTimeout(limit);
      resolve();
    });
  });
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Returns whom the server runs as: it refuses to run as root. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
