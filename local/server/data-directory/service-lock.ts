import { open, readdir, stat, unlink, type FileHandle } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { TableBusy, type KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { isLocked, lockOpenDirectory } from './directory-lock.ts';
import { askService, isAnswered, ServiceSocket, type ServiceActions } from './service-socket.ts';

const key = itemKey.deployment('service');
const tokenBytes = 9;

/** The interval, in milliseconds, of checks that the socket is still there. */
const watchEvery = 1000;
/** The interval, in milliseconds, of attempts to record the socket if the table could not be written. */
const recordEvery = 10_000;

/** The exclusive right to serve a data directory. */
export interface ServiceLock {
  /** Answers administrative commands from now on. Until then, they wait. */
  answer(actions: ServiceActions): void;
  release(): Promise<void>;
}

/** Returns the error for a directory that another service has. */
export function servedBy(data: string, pid: unknown): OperatorError {
  const who = typeof pid === 'number' ? `process ${pid}` : 'another process';
  return new OperatorError(`--data: ${who} serves ${data}: stop it first, or use another directory`);
}

/**
 * Makes this process the only service on a data directory until it releases the lock or exits for any reason. The kernel's lock on the
 * directory excludes others wherever there are such locks, whatever happens to the files. A socket in the directory takes commands and
 * shows whether the holder is still running, also across containers and without such locks; the table records which socket counts, and
 * lets only one of several concurrent processes take the lock.
 * @param onLost called once if the socket has been removed: commands, and without the kernel's lock services, now act as if none ran
 * @throws OperatorError if another service runs on it
 */
export async function lockDirectory(
  data: string,
  table: KeyValueTable,
  randomness: Randomness,
  onLost: () => void,
): Promise<ServiceLock> {
  const directory = await open(data);
  const token = Buffer.from(randomness.bytes(tokenBytes)).toString('base64url');
  const refuse = (pid: unknown): never => {
    throw servedBy(data, pid);
  };
  let socket: ServiceSocket | undefined;
  try {
    if (!(await lockOpenDirectory(directory))) refuse((await table.get(key))?.['pid']);
    const path = socketPath(directory, data, token);
    socket = await ServiceSocket.listen(path);
    await makePrivate(path);
    const record = async (): Promise<void> => {
      for (;;) {
        const holder = await table.get(key);
        const holderPath = holder && socketPath(directory, data, holder['token'] as string);
        const isOther = holderPath !== undefined && holderPath !== path;
        if (isOther && (await isAnswered(holderPath))) refuse(holder!['pid']);
        const expect = holder
          ? ({ is: 'equal', attribute: 'token', value: holder['token'] as string } as const)
          : ({ is: 'absent' } as const);
        const { outcome } = await table.write([{ key, put: { token, pid: process.pid }, expect }]);
        if (outcome === 'unknown') throw new OperatorError(`--data: cannot use ${data}: the table did not answer`);
        if (outcome === 'conflict') continue;
        if (isOther) await unlink(holderPath).catch(() => undefined);
        return;
      }
    };
    const endRecording = await record().then(
      () => () => undefined,
      async (error: unknown) => {
        if (!(error instanceof TableBusy)) throw error;
        // The disk is full, so that nobody else can record a socket either. What is there can be read.
        if (await isAnyAnswered(directory, data, token)) refuse(undefined);
        return recordLater(record, onLost);
      },
    );
    const endWatch = watchSocket(path, directory, onLost);
    const listening = socket;
    return {
      answer: (actions) => listening.answer(actions),
      release: async () => {
        endRecording();
        endWatch();
        // This removes its file, too.
        await listening.close();
        await directory.close();
      },
    };
  } catch (error) {
    await socket?.close();
    await directory.close();
    throw error;
  }
}

/**
 * Records the socket as soon as the table can be written.
 * @param onLost called if another service was faster
 * @returns ends it
 */
function recordLater(record: () => Promise<void>, onLost: () => void): () => void {
  const timer = setInterval(() => {
    record().then(end, (error: unknown) => {
      if (error instanceof OperatorError) onLost();
    });
  }, recordEvery).unref();
  const end = (): void => clearInterval(timer);
  return end;
}

/**
 * Calls `onLost` once the socket has been removed from its directory. Of a directory that is removed as a whole, the table tells.
 * @returns ends the watch
 */
function watchSocket(path: string, directory: FileHandle, onLost: () => void): () => void {
  let isWatching = true;
  const end = (): void => {
    isWatching = false;
    clearInterval(watch);
  };
  const check = async (): Promise<void> => {
    if ((await isThere(path)) || (await directory.stat()).nlink === 0 || !isWatching) return;
    end();
    onLost();
  };
  const watch = setInterval(() => void check().catch(() => undefined), watchEvery).unref();
  return end;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}

/** Tells whether a service runs on a directory, without opening its table. */
export async function isServed(data: string): Promise<boolean> {
  const directory = await open(data);
  try {
    return (await isAnyAnswered(directory, data)) || (await isLocked(directory));
  } finally {
    await directory.close();
  }
}

/** Tells whether the last service of a directory was killed, or crashed: its socket is there, and none runs. */
export async function hasEndedUncleanly(data: string): Promise<boolean> {
  const tokens = await tokensIn(data).catch(() => []);
  return tokens.length > 0 && !(await isServed(data));
}

/** Tells whether a process listens on a socket in a directory. @param except the token of one that does not count */
async function isAnyAnswered(directory: FileHandle, data: string, except?: string): Promise<boolean> {
  for (const token of await tokensIn(data)) {
    if (token !== except && (await isAnswered(socketPath(directory, data, token)))) return true;
  }
  return false;
}

/** Returns the tokens of the sockets in a directory, also of those that were left behind. */
async function tokensIn(data: string): Promise<readonly string[]> {
  const tokens = (await readdir(data)).map((name) => /^service-(.+)\.sock$/.exec(name)?.[1]);
  return tokens.filter((token) => token !== undefined);
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
    // A service that could not record its socket, as the disk was full, answers as well.
    for (const token of new Set([holder['token'] as string, ...(await tokensIn(data))])) {
      const answer = await askService(socketPath(directory, data, token), action);
      if (answer) return answer;
    }
    if (!(await isLocked(directory))) return undefined;
    throw new OperatorError(
      `--data: a service runs on ${data} that does not take commands: it starts, or its socket was removed; try again in a moment`,
    );
  } finally {
    await directory.close();
  }
}

/** Returns the path of a socket. Socket paths are limited to about 100 bytes, so Linux names the directory by its descriptor. */
function socketPath(directory: FileHandle, data: string, token: string): string {
  const parent = platform() === 'linux' ? `/proc/self/fd/${directory.fd}` : data;
  return join(parent, `service-${token}.sock`);
}
