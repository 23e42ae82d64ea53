import { createCipheriv, createDecipheriv, createHmac, hkdfSync, scrypt } from 'node:crypto';
import { OperatorError } from '../errors/operator-error.ts';
import { TargetFailed, type BackupTarget } from '../ports/backup-target.ts';
import type { Randomness } from '../ports/randomness.ts';

/** The file with the key of a repository, encrypted under the operator's passphrase. Its presence tells that there is a repository. */
export const keyFile = 'stillage-backup.json';

const format = 1;
/** The cost of a guess: 128 MiB and a third of a second, as OWASP recommends. */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;
const keyBytes = 32;
const tagBytes = 16;
const algorithm = 'aes-256-gcm';
/** The nonce of the encrypted key: the key that it is encrypted under is new with each salt. */
const nonce = Buffer.alloc(12);

interface KeyDocument {
  readonly format: number;
  readonly repository: string;
  readonly kdf: {
    readonly name: 'scrypt';
    readonly N: number;
    readonly r: number;
    readonly p: number;
    readonly salt: string;
  };
  readonly key: string;
}

/** The keys of an open repository. */
export interface RepositoryKeys {
  /** The id of the repository. */
  readonly repository: string;
  /** Encrypts its files. */
  readonly content: Uint8Array;
  /** Returns the name of a content, which nobody can tell without the key. */
  nameOf(content: Uint8Array): string;
}

/**
 * Creates the key of a repository; if another process has just done so, opens that.
 * @throws OperatorError
 */
export async function createKeys(
  target: BackupTarget,
  passphrase: Uint8Array,
  randomness: Randomness,
): Promise<RepositoryKeys> {
  const key = randomness.bytes(keyBytes);
  const document = await sealed(Buffer.from(randomness.bytes(9)).toString('base64url'), key, passphrase, randomness);
  const bytes = encode(document);
  await target.put(keyFile, bytes, { ifAbsent: true });
  // What is there counts, as another process may have been first. If it is this one's, nothing has to be derived again, which takes long.
  if (bytes.equals((await target.get(keyFile)) ?? Buffer.alloc(0))) return keysOf(document.repository, key);
  return (await openKeys(target, passphrase))!;
}

/** Opens the key of a repository; undefined if there is none. @throws OperatorError for another passphrase */
export async function openKeys(target: BackupTarget, passphrase: Uint8Array): Promise<RepositoryKeys | undefined> {
  const document = await readDocument(target);
  return document && keysOf(document.repository, await unsealed(document, passphrase, target));
}

/** Encrypts the key of a repository under another passphrase. @throws OperatorError */
export async function changePassphrase(
  target: BackupTarget,
  former: Uint8Array,
  passphrase: Uint8Array,
  randomness: Randomness,
): Promise<void> {
  const document = await readDocument(target);
  if (document === undefined) throw noRepository(target);
  const key = await unsealed(document, former, target);
  await target.put(keyFile, encode(await sealed(document.repository, key, passphrase, randomness)));
}

/** Returns the error for a target without backups. */
export function noRepository(target: BackupTarget): OperatorError {
  return new OperatorError(`${target.name} has no backups: stillage backup create makes the first one`);
}

async function readDocument(target: BackupTarget): Promise<KeyDocument | undefined> {
  const bytes = await target.get(keyFile);
  if (bytes === undefined) return undefined;
  const document = parsed(bytes);
  if (document?.format === format) return document;
  throw new TargetFailed(
    document === undefined
      ? `${keyFile} in ${target.name} is damaged, and nothing can be read without it: restore it from a copy`
      : `${target.name} has backups in format ${document.format}, which this version of Stillage does not know`,
  );
}

function parsed(bytes: Uint8Array): KeyDocument | undefined {
  try {
    const document = JSON.parse(Buffer.from(bytes).toString()) as Partial<KeyDocument> | null;
    const isOne = typeof document?.format === 'number' && typeof document.repository === 'string';
    return isOne && typeof document.key === 'string' && document.kdf?.name === 'scrypt'
      ? (document as KeyDocument)
      : undefined;
  } catch {
    return undefined;
  }
}

function encode(document: KeyDocument): Buffer {
  return Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`);
}

async function sealed(
  repository: string,
  key: Uint8Array,
  passphrase: Uint8Array,
  randomness: Randomness,
): Promise<KeyDocument> {
  const salt = Buffer.from(randomness.bytes(32));
  const cipher = createCipheriv(algorithm, await derived(passphrase, salt, cost), nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(repository));
  const bytes = Buffer.concat([cipher.update(key), cipher.final(), cipher.getAuthTag()]);
  const kdf = { name: 'scrypt', ...cost, salt: salt.toString('base64') } as const;
  return { format, repository, kdf, key: bytes.toString('base64') };
}

async function unsealed(
  { repository, kdf, key }: KeyDocument,
  passphrase: Uint8Array,
  target: BackupTarget,
): Promise<Buffer> {
  const bytes = Buffer.from(key, 'base64');
  const wrapping = await derived(passphrase, Buffer.from(kdf.salt, 'base64'), kdf);
  const decipher = createDecipheriv(algorithm, wrapping, nonce, { authTagLength: tagBytes });
  try {
    decipher.setAAD(Buffer.from(repository));
    decipher.setAuthTag(bytes.subarray(keyBytes));
    return Buffer.concat([decipher.update(bytes.subarray(0, keyBytes)), decipher.final()]);
  } catch {
    throw new OperatorError(`the passphrase is not that of the backups in ${target.name}`);
  }
}

function derived(
  passphrase: Uint8Array,
  salt: Buffer,
  { N, r, p }: { readonly N: number; readonly r: number; readonly p: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, keyBytes, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

function keysOf(repository: string, key: Uint8Array): RepositoryKeys {
  const of = (use: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `stillage backup ${use}`, keyBytes));
  const names = of('names');
  return {
    repository,
    content: of('content'),
    nameOf: (content) => createHmac('sha256', names).update(content).digest('base64url'),
  };
}
