import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificate } from '../../support/clients/certificates.ts';
import { alice, startService } from '../../support/programs/server.ts';
import type { Key } from '../../support/clients/signer.ts';
import type { Address } from './generator-messages.ts';

/** A server to measure. */
export interface BenchServer {
  readonly name: string;
  readonly address: Address;
  /** The same over HTTPS, if it can be reached in that way. */
  readonly secure?: BenchServer;
  /** Whether it understands more than PUT, GET, HEAD and DELETE of objects. */
  readonly isStore: boolean;
  /** Its processes, without those that they have started; empty: unknown. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** How to start the service. */
export interface ServiceToBench {
  readonly name: string;
  /** The checkout; undefined: this one. */
  readonly root?: string;
  readonly workers: number;
  /** Whether it is started a second time, for HTTPS. */
  readonly withHttps: boolean;
}

/** Starts the service as a user starts it, on data directories that are removed when it stops. */
export async function startStillage({ name, root, workers, withHttps }: ServiceToBench): Promise<BenchServer> {
  // One is the default, also of versions that do not know the option.
  const args = workers === 1 ? [] : ['--workers', String(workers)];
  const start = async (more: readonly string[]): Promise<BenchServer> => {
    const service = await startService({ ...(root !== undefined && { root }), args: [...args, ...more] });
    return {
      name,
      address: { url: service.url, key: alice },
      isStore: true,
      pids: [service.pid],
      stop: async () => {
        await service.stop();
      },
    };
  };
  const plain = await start([]);
  if (!withHttps) return plain;
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const { certificate, key } = await issueCertificate(folder, ['127.0.0.1']);
  const secure = await start(['--tls-cert', certificate, '--tls-key', key]);
  const stop = async (): Promise<void> => {
    await plain.stop();
    await secure.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...plain, secure, stop };
}

/** Starts the least that a store must do: see bare-server.ts. */
export async function startBareServer(): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, '../bare-server.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(/http:\S+/.exec(text)![0]));
    child.once('exit', () => reject(new Error('the bare server ended')));
  });
  return {
    name: 'bare node:http',
    address: { url, key: undefined },
    isStore: false,
    pids: [child.pid!],
    stop: async () => {
      child.kill();
      await new Promise((resolve) => child.once('close', resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a store that runs already. */
export function runningStore(url: string, key: Key, pids: readonly number[]): BenchServer {
  return { name: new URL(url).host, address: { url, key }, isStore: true, pids, stop: () => Promise.resolve() };
}
