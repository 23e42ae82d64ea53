import { readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { relative, resolve } from 'node:path';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { DirectoryTarget } from '../../shared/adapters/targets/directory-target.ts';
import { Repository } from '../../shared/backup/repository.ts';
import { TargetLock, type LockHolder, type LockKind } from '../../shared/backup/target-lock.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { TargetFailed, type BackupTarget } from '../../shared/ports/backup-target.ts';
import { backupPlace, s3PlaceOf } from '../../shared/command-line/backup-place.ts';
import { S3Target } from '../../shared/adapters/targets/s3-target.ts';
import type { Operand } from './operands.ts';
import { passphraseVariable } from './settings.ts';

/** The target of backups. */
export const target: Operand = [
  '<target>',
  'directory of the backups, or s3://bucket/prefix?endpoint=https://s3.example.com',
  backupPlace,
];

/** The options of commands on backups. */
export interface TargetOptions {
  readonly passphraseFile?: string;
}

/** Runs `work` with the target. @throws OperatorError also if the target cannot be used */
export async function withTarget<Result>(
  name: string,
  work: (target: BackupTarget) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(opened(name));
  } catch (error) {
    if (error instanceof TargetFailed) throw new OperatorError(error.message);
    throw error;
  }
}

/** Opens the backups in a target. @param create creates them in an empty one. @throws OperatorError */
export async function openRepository(
  target: BackupTarget,
  { passphraseFile }: TargetOptions,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Repository> {
  const passphrase = await readPassphrase(passphraseFile);
  const randomness = new CryptoRandomness();
  return create
    ? Repository.openOrCreate(target, passphrase, randomness)
    : Repository.open(target, passphrase, randomness);
}

/** Runs `work` with a lock on the target. @throws OperatorError if another process excludes it */
export async function withLock<Result>(
  target: BackupTarget,
  kind: LockKind,
  work: (lock: TargetLock) => Promise<Result>,
): Promise<Result> {
  const deps = { target, clock: new SystemClock(), randomness: new CryptoRandomness(), holder: thisProcess };
  const lock = await TargetLock.take(deps, kind);
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/** Refuses a target in the data directory, whose service would not expect its files, and a data directory in the target. @throws UsageError */
export async function refuseNested(target: BackupTarget, data: string): Promise<void> {
  if (s3PlaceOf(target.name) !== undefined) return;
  const [place, directory] = await Promise.all(
    [target.name, data].map((one) => realpath(one).catch(() => resolve(one))),
  );
  const isIn = (inner: string, outer: string): boolean => !relative(outer, inner).startsWith('..');
  if (!isIn(place!, directory!) && !isIn(directory!, place!)) return;
  throw new UsageError(`the backups cannot be in the data directory, nor it in theirs: ${target.name}, ${data}`);
}

function opened(name: string): BackupTarget {
  const place = s3PlaceOf(name);
  return place === undefined ? new DirectoryTarget(resolve(name)) : new S3Target(name, place);
}

/** Reads the passphrase of backups from a file, or the environment. @throws OperatorError */
export async function readPassphrase(file: string | undefined): Promise<Buffer> {
  const given = file === undefined ? Buffer.from(process.env[passphraseVariable] ?? '') : await contentOf(file);
  // An editor, or echo, has ended the line.
  const text = given.toString('latin1').replace(/\r?\n$/, '');
  if (text !== '') return Buffer.from(text, 'latin1');
  throw new UsageError(
    file === undefined
      ? `name a file with the passphrase of the backups by --passphrase-file, or set ${passphraseVariable}`
      : `--passphrase-file: ${file} is empty`,
  );
}

async function contentOf(file: string): Promise<Buffer> {
  return readFile(file).catch((error: Error) => {
    throw new OperatorError(`--passphrase-file: cannot read ${file}: ${error.message}`);
  });
}

const thisProcess: LockHolder = {
  host: hostname(),
  pid: process.pid,
  hasEnded: (host, pid) => {
    if (host !== hostname()) return false;
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH';
    }
  },
};
