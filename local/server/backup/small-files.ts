import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The key of the secrets in the table. */
export const keyFile = 'master.key';

/** Of the certificate that a service makes itself. */
const certificateFiles = ['self-signed.key', 'self-signed.crt'] as const;

const markPrefix = 'blobs/store-';

/** Returns the marks of the directory of blobs among the names of such files, which no other data directory has but its copies. */
export function marksIn(files: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(files).filter((name) => name.startsWith(markPrefix));
}

/** Reads the files of a data directory that are neither its table nor blobs, in base64: its key, its certificate, and the mark of the blobs. */
export async function smallFiles(data: string): Promise<Readonly<Record<string, string>>> {
  const marks = (await readdir(join(data, 'blobs')))
    .map((name) => `blobs/${name}`)
    .filter((name) => name.startsWith(markPrefix));
  const files: Record<string, string> = {};
  for (const name of [keyFile, ...certificateFiles, ...marks]) {
    const content = await readFile(join(data, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (content) files[name] = content.toString('base64');
  }
  return files;
}
