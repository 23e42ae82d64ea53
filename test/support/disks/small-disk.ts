import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run, type Outcome } from '../programs/programs.ts';
import { exchange, type RawResponse } from '../clients/raw-client.ts';
import { alice, startService, type Service } from '../programs/server.ts';
import { signed, type Unsigned } from '../clients/signer.ts';

/** Runs a command in a new mount namespace. */
export const unshare = ['unshare', '--user', '--map-root-user', '--mount'];

/** The reason why {@link maySmallDisk} is false. */
export const noSmallDisk = 'this machine allows no mount namespaces';

/** Whether {@link onSmallDisk} works on this machine. */
export const maySmallDisk =
  spawnSync(unshare[0]!, [...unshare.slice(1), 'mount', '-t', 'tmpfs', 'disk', '/mnt'], { stdio: 'ignore' }).status ===
  0;

const root = join(import.meta.dirname, '../../..');

/** A service whose data directory is a file system of 32 MiB. */
export interface SmallDisk {
  readonly started: Service;
  /** Returns the path of a file of its disk, as it can be reached from here. */
  readonly inside: (name: string) => string;
  readonly send: (request: Unsigned) => Promise<RawResponse>;
  /** Starts another service on the disk, which the test stops. */
  readonly startAgain: (args?: readonly string[]) => Promise<Service>;
  /** Runs a command of the program on the disk. */
  readonly command: (...args: readonly string[]) => Promise<Outcome>;
}

/**
 * Starts a service on a file system of 32 MiB, which goes when the test is over.
 * @param args options of the service
 */
export async function onSmallDisk(args: readonly string[] = []): Promise<SmallDisk> {
  const data = await mkdtemp(join(tmpdir(), 'stillage-disk-'));
  // Has the disk as long as it runs.
  const mounted = 'mount -t tmpfs -o size=32m disk "$0" && echo mounted && exec sleep infinity';
  const holder = spawn(unshare[0]!, [...unshare.slice(1), 'bash', '-c', mounted, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const enter = ['nsenter', '-t', String(holder.pid), '--user', '--mount', '--preserve-credentials'];
  const startAgain = (more: readonly string[] = args): Promise<Service> =>
    startService({ data, args: more, under: [...enter, 'bash', '-c', 'cd "$0" && "$@"; exit $?', root] });
  const started = await startAgain();
  onTestFinished(async () => {
    await started.stop();
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await rm(data, { recursive: true });
  });
  const { host } = new URL(started.url);
  const program = join(root, 'bin/stillage.cjs');
  return {
    started,
    inside: (name) => join(`/proc/${holder.pid}/root`, data, name),
    send: (request) => exchange(started.url, signed(host, request, { key: alice })),
    startAgain,
    command: (...command) =>
      run('nsenter', [...enter.slice(1), process.execPath, program, ...command, '--data', data], { codes: [0, 1, 2] }),
  };
}
