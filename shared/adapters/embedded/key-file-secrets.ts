import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AesSecrets, aesKeySize } from '../system/aes-secrets.ts';
import { syncDirectory } from './durable-directory.ts';

/** Seals secrets under a key in a file next to the data. */
export class KeyFileSecrets extends AesSecrets {
  /**
   * Reads the key file, or creates it (32 random bytes, mode 0600, durable before anything is sealed with it).
   * @throws Error with one line that says what to do, if others can read the file or it is not a key
   */
  static async open(path: string): Promise<KeyFileSecrets> {
    return new KeyFileSecrets(
      (await readKey(path)) ?? (await createKey(path, new Uint8Array(randomBytes(aesKeySize)))),
    );
  }

  /**
   * Copies a key file, unless the same key is there already.
   * @returns false if there is another key
   * @throws Error as {@link KeyFileSecrets.open}, also if there is none to be copied
   */
  static async copy(from: string, to: string): Promise<boolean> {
    const key = await readKey(from);
    if (key === undefined) throw new Error(`there is no key file ${from}`);
    const present = (await readKey(to)) ?? (await createKey(to, key));
    return Buffer.from(present).equals(key);
  }
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`the key file ${path} cannot be read: ${error.message}`, { cause: error });
  });
  if (file === undefined) return undefined;
  try {
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`other users can read the key file ${path}; run: chmod 600 ${path}`);
    }
    const key = await file.readFile();
    if (key.length !== aesKeySize) {
      throw new Error(
        `the key file ${path} has ${key.length} bytes instead of ${aesKeySize}; restore it from a backup`,
      );
    }
    return new Uint8Array(key);
  } finally {
    await file.close();
  }
}

/**
 * Creates the key file under its name only once it is durable, so that a crash leaves a whole key or none. If another
 * process created it first, returns that key.
 */
async function createKey(path: string, key: Uint8Array): Promise<Uint8Array> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(key);
    await file.sync();
    await file.close();
    await link(draft, path);
    await rm(draft);
    await syncDirectory(dirname(path));
    return key;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await syncDirectory(dirname(path));
    return (await readKey(path))!;
  }
}
