import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { exchange, type RawResponse } from './raw-client.ts';
import { alice, startService, type Service } from './server.ts';
import { signed, type Unsigned } from './signer.ts';

/** Runs a command in a new mount namespace. */
const unshare = ['unshare', '--user', '--map-root-user', '--mount'];

/** The reason why {@link maySmallDisk} is false. */
export const noSmallDisk = 'this machine allows no mount namespaces';

/** Whether {@link onSmallDisk} works on this machine. */
export const maySmallDisk =
  spawnSync(unshare[0]!, [...unshare.slice(1), 'mount', '-t', 'tmpfs', 'disk', '/mnt'], { stdio: 'ignore' }).status ===
  0;

/** A service whose data directory is a file system of 32 MiB. */
export interface SmallDisk {
  readonly started: Service;
  /** Returns the path of a file of its disk, as it can be reached from here. */
  readonly inside: (name: string) => string;
  readonly send: (request: Unsigned) => Promise<RawResponse>;
}

/**
 * Starts a service on a file system of 32 MiB, which goes when the test is over.
 * @param args options of the service
 */
export async function onSmallDisk(args: readonly string[] = []): Promise<SmallDisk> {
  const data = await mkdtemp(join(tmpdir(), 'stillage-disk-'));
  const mounted = 'mount -t tmpfs -o size=32m disk "$0" && "$@"; exit $?';
  const started = await startService({ data, args, under: [...unshare, 'bash', '-c', mounted, data] });
  onTestFinished(async () => {
    await started.stop();
    await rm(data, { recursive: true });
  });
  const { host } = new URL(started.url);
  return {
    started,
    inside: (name) => join(`/proc/${started.pid}/root`, data, name),
    send: (request) => exchange(started.url, signed(host, request, { key: alice })),
  };
}
