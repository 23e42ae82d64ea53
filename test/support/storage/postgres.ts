import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../runs/free-port.ts';
import { patience } from '../runs/patience.ts';

/** A server of PostgreSQL with an empty database. */
export interface Postgres {
  /** `postgres://stillage@127.0.0.1:54321/postgres` */
  readonly url: string;
  /** Ends it at once, as a loss of its process would: `pg_ctl stop -m immediate`. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, on the same data and port. */
  restart(): Promise<void>;
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
 * Starts a server on a free port, with data in a temporary directory.
 * @param more arguments of it
 * @throws Error if PostgreSQL is not installed
 */
export async function startPostgres(...more: readonly string[]): Promise<Postgres> {
  const directory = mkdtempSync(join(tmpdir(), 'stillage-postgres-'));
  const data = join(directory, 'data');
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? userOf('postgres') : undefined;
  if (user) chownSync(directory, user.uid, user.gid);
  const options = { ...user, cwd: directory };
  const initial = ['-D', data, '-U', 'stillage', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(programDirectory(), 'initdb'), initial, { ...options, stdio: 'pipe' });
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
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, 'exit');
  };
  await start();
  const onExit = (): void => void server.kill('SIGQUIT');
  process.once('exit', onExit);
  return {
    url,
    kill: () => end('SIGQUIT'),
    restart: start,
    stop: async () => {
      process.off('exit', onExit);
      await end('SIGQUIT');
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
      if (!log.includes('ready to accept connections')) return;
      clearTimeout(limit);
      resolve();
    });
  });
}

function userOf(name: string): { readonly uid: number; readonly gid: number } {
  const id = (option: string): number => Number(execFileSync('id', [option, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
