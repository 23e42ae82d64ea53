import { open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { itemKey } from '../../../shared/metadata/table/keys.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { OperatorError } from '../operator-error.ts';
import { askService, isAnswered, ServiceSocket, type ServiceActions } from './service-socket.ts';

const key = itemKey.deployment('service');
const tokenBytes = 9;

/** The exclusive right to serve a data directory. */
export interface ServiceLock {
  /** Answers administrative commands from now on. Until then, they wait. */
  answer(actions: ServiceActions): void;
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
    const socket = await ServiceSocket.listen(path);
    await makePrivate(path);
    for (;;) {
      const holder = await table.get(key);
      const holderPath = holder && socketPath(directory, data, holder['token'] as string);
      if (holderPath !== undefined && (await isAnswered(holderPath))) {
        await socket.close();
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
      return { answer: (actions) => socket.answer(actions), release: () => release(socket, directory) };
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

/**
 * Asks the service that runs on a data directory for an action.
 * @returns its result, or undefined if no service runs
 * @throws OperatorError if it cannot be asked, or the action fails
 */
export async function askRunningService(
  data: string,
  table: KeyValueTable,
  action: string,
): Promise<{ readonly result: unknown } | undefined> {
  const holder = await table.get(key);
  if (holder === undefined) return undefined;
  const directory = await open(data);
  try {
    return await askService(socketPath(directory, data, holder['token'] as string), action);
  } finally {
    await directory.close();
  }
}

async function release(socket: ServiceSocket, directory: FileHandle): Promise<void> {
  // This removes its file, too.
  await socket.close();
  await directory.close();
}

/** Returns the path of a socket. Socket paths are limited to about 100 bytes, so Linux names the directory by its descriptor. */
function socketPath(directory: FileHandle, data: string, token: string): string {
  const parent = platform() === 'linux' ? `/proc/self/fd/${directory.fd}` : data;
  return join(parent, `service-${token}.sock`);
}
