import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const MiB = 1024 * 1024;

/** Set by `npm run test:long`: the sizes grow. */
export const long = process.env['TEST_LONG'] !== undefined;

export function md5(content: Uint8Array | string): string {
  return createHash('md5').update(content).digest('hex');
}

/** Writes random bytes to a new file, and gives them back. */
export async function randomFile(path: string, size: number): Promise<Buffer> {
  const content = randomBytes(size);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return content;
}

/** The files below a folder: the MD5 of each by its path. */
export async function filesBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sums = files.sort().map(async (file) => [file.slice(folder.length + 1), md5(await readFile(file))] as const);
  return Object.fromEntries(await Promise.all(sums));
}

/** Names that clients encode in different ways. */
export const awkwardNames = [
  'a b+c&d.txt',
  'ü/日本/é.txt',
  "100%25=~'().txt",
  'deep/er/and/deeper.txt',
  '#?;:@,!$.txt',
];

/** Writes a few small files of awkward names. */
export async function awkwardTree(folder: string): Promise<void> {
  await Promise.all(awkwardNames.map((name, index) => randomFile(join(folder, name), 100 + index)));
}
