import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../runs/free-port.ts';
import { patience } from '../runs/patience.ts';
import { postgresUser } from './postgres.ts';

/** A pooler before a server of PostgreSQL. */
export interface Pooler {
  /** `postgres://stillage@127.0.0.1:54321/postgres` */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts pgbouncer on a free port. It passes each of its few connections on to another client after each transaction.
 * @param url of the server
 * @param connections to the server, fewer than clients have
 * @throws Error if pgbouncer is not installed
 */
export async function startPgbouncer(url: string, connections: number): Promise<Pooler> {
  const directory = mkdtempSync(join(tmpdir(), 'stillage-pgbouncer-'));
  const { hostname, port, username, pathname } = new URL(url);
  const own = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `${pathname.slice(1)} = host=${hostname} port=${port} user=${username} pool_size=${connections}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${own}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 200',
    ].join('\n'),
  );
  // It refuses to run as root, too.
  chmodSync(directory, 0o755);
  const pooler = spawn('pgbouncer', [file], { ...postgresUser(), cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  const onExit = (): void => void pooler.kill('SIGKILL');
  process.once('exit', onExit);
  await new Promise<void>((resolve, reject) => {
    let log = '';
    const limit = setTimeout(() => reject(new Error(`pgbouncer does not start: ${log}`)), patience);
    pooler.once('error', reject);
    pooler.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}: ${log}`)));
    pooler.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (!log.includes('process up')) return;
      clearTimeout(limit);
      resolve();
    });
  });
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    stop: async () => {
      process.off('exit', onExit);
      if (pooler.exitCode === null && pooler.signalCode === null) {
        const exited = once(pooler, 'exit');
        pooler.kill('SIGKILL');
        await exited;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
