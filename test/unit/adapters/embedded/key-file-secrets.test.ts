import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyFileSecrets } from '../../../../shared/adapters/embedded/key-file-secrets.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-key-'));
  path = join(directory, 'master.key');
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const plaintext = Buffer.from('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');

describe('the key file', () => {
  it('is created with 32 random bytes that only its owner may read, and nothing beside it', async () => {
    await KeyFileSecrets.open(path);
    const { mode, size } = await stat(path);
    expect(mode & 0o777).toBe(0o600);
    expect(size).toBe(32);
    expect(await readdir(directory)).toEqual(['master.key']);
    await KeyFileSecrets.open(join(directory, 'other.key'));
    expect(await readFile(path)).not.toEqual(await readFile(join(directory, 'other.key')));
  });

  it('is kept when opened again', async () => {
    const sealed = await (await KeyFileSecrets.open(path)).seal(plaintext, 'here');
    const key = await readFile(path);
    expect(Buffer.from(await (await KeyFileSecrets.open(path)).open(sealed, 'here'))).toEqual(plaintext);
    expect(await readFile(path)).toEqual(key);
  });

  it('is one and the same for many who open it first', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 16 }, () => KeyFileSecrets.open(path)));
    const sealed = await first!.seal(plaintext, 'here');
    for (const other of others) expect(Buffer.from(await other.open(sealed, 'here'))).toEqual(plaintext);
    expect(await readdir(directory)).toEqual(['master.key']);
  });

  it.each([0o640, 0o604, 0o644, 0o660, 0o601])(
    'is refused with mode %o, in one line that says what to do',
    async (mode) => {
      await KeyFileSecrets.open(path);
      await chmod(path, mode);
      const refusal = await KeyFileSecrets.open(path).catch((error: Error) => error.message);
      expect(refusal).toContain(`chmod 600 ${path}`);
      expect(refusal).not.toContain('\n');
      await chmod(path, 0o600);
      await expect(KeyFileSecrets.open(path)).resolves.toBeDefined();
    },
  );

  it.each([0, 31, 33])('is refused with %i bytes', async (size) => {
    await writeFile(path, Buffer.alloc(size), { mode: 0o600 });
    await expect(KeyFileSecrets.open(path)).rejects.toThrow(`${path} has ${size} bytes instead of 32`);
  });

  it('is refused if it cannot be read, or its directory is missing', async () => {
    await mkdir(path, { mode: 0o700 });
    await expect(KeyFileSecrets.open(path)).rejects.toThrow();
    await expect(KeyFileSecrets.open(join(directory, 'missing', 'master.key'))).rejects.toThrow(/ENOENT/);
  });
});

describe('a sealed secret', () => {
  let secrets: KeyFileSecrets;
  beforeEach(async () => {
    secrets = await KeyFileSecrets.open(path);
  });

  it('opens to what was sealed, also to nothing at all', async () => {
    for (const secret of [plaintext, new Uint8Array(0), new Uint8Array(100_000).fill(9)]) {
      const opened = await secrets.open(await secrets.seal(secret, 'user/7'), 'user/7');
      expect(Buffer.compare(opened, secret)).toBe(0);
    }
  });

  it('is different each time, and shows nothing', async () => {
    const sealed = await Promise.all(Array.from({ length: 100 }, () => secrets.seal(plaintext, 'user/7')));
    expect(new Set(sealed.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(100);
    expect(new Set(sealed.map((bytes) => Buffer.from(bytes.subarray(1, 13)).toString('hex'))).size).toBe(100);
    expect(Buffer.from(sealed[0]!).includes(plaintext.subarray(0, 6))).toBe(false);
  });

  it('does not open in another place', async () => {
    await expect(secrets.open(await secrets.seal(plaintext, 'user/7'), 'user/8')).rejects.toThrow(
      /not sealed with this key/,
    );
  });

  it('does not open with another key', async () => {
    const other = await KeyFileSecrets.open(join(directory, 'other.key'));
    await expect(secrets.open(await other.seal(plaintext, 'user/7'), 'user/7')).rejects.toThrow(
      /not sealed with this key/,
    );
  });

  it('does not open with any bit changed, or any byte cut off', async () => {
    const sealed = await secrets.seal(plaintext, 'user/7');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = sealed.slice();
      changed[index]! ^= 1 << (index % 8);
      await expect(secrets.open(changed, 'user/7')).rejects.toThrow();
      await expect(secrets.open(sealed.subarray(0, index), 'user/7')).rejects.toThrow();
    }
  });
});
