import { open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { itemKey } from '../../../shared/metadata/table/keys.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { OperatorError } from '../operator-error.ts';

const key = itemKey.deployment('service');
const tokenBytes = 9;

/** The exclusive right to serve a data directory. */
export interface ServiceLock {
  release(): Promise<void>;
}

/**
 * Makes this process the only service on a data directory until it releases the lock or exits for any reason. A socket in the
 * directory shows whether the holder is still running, also across containers; the table records which socket counts, and lets only
 * one of several concurrent processes take the lock.
 * @throws OperatorError if another service runs on it
 */
export async function lockDirectory(data: string, table: KeyValueTable, randomness: Randomness): Promise<ServiceLock> {
  const directory = await open(data);
  const token = Buffer.from(randomness.bytes(tokenBytes)).toString('base64url');
  try {
    const path = socketPath(directory, data, token);
    const server = await listenOn(path);
    await makePrivate(path);
    for (;;) {
      const holder = await table.get(key);
      const holderPath = holder && socketPath(directory, data, holder['token'] as string);
      if (holderPath !== undefined && (await isAnswered(holderPath))) {
        server.close();
        throw new OperatorError(
          `--data: process ${holder!['pid'] as number} serves ${data}: stop it first, or use another directory`,
        );
      }
      const expect = holder
        ? ({ is: 'equal', attribute: 'token', value: holder['token'] as string } as const)
        : ({ is: 'absent' } as const);
      const { outcome } = await table.write([{ key, put: { token, pid: process.pid }, expect }]);
      if (outcome === 'unknown') throw new OperatorError(`--data: cannot use ${data}: the table did not answer`);
      if (outcome === 'conflict') continue;
      if (holderPath !== undefined) await unlink(holderPath).catch(() => undefined);
      return { release: () => release(server, directory) };
    }
  } catch (error) {
    await directory.close();
    throw error;
  }
}

/** Tells whether a service runs on a directory, without opening its table. */
export async function isServed(data: string): Promise<boolean> {
  const directory = await open(data);
  try {
    const sockets = (await readdir(data)).map((name) => /^service-(.+)\.sock$/.exec(name)?.[1]);
    for (const token of sockets) {
      if (token !== undefined && (await isAnswered(socketPath(directory, data, token)))) return true;
    }
    return false;
  } finally {
    await directory.close();
  }
}

async function release(server: Server, directory: FileHandle): Promise<void> {
  // This removes its file, too.
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await directory.close();
}

/** Returns the path of a socket. Socket paths are limited to about 100 bytes, so Linux names the directory by its descriptor. */
function socketPath(directory: FileHandle, data: string, token: string): string {
  const parent = platform() === 'linux' ? `/proc/self/fd/${directory.fd}` : data;
  return join(parent, `service-${token}.sock`);
}

function listenOn(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) =>
      reject(new OperatorError(`--data: cannot create a socket in the directory: ${error.message}`)),
    );
    server.listen(path, () => resolve(server.unref()));
  });
}

/** Returns whether a process listens on a socket. One that refuses access counts as listening. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ENOENT' && code !== 'ECONNREFUSED'));
  });
}
