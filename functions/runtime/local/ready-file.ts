import { rename, rm, writeFile } from 'node:fs/promises';
import { OperatorError } from '../operator-error.ts';

/**
 * Writes the endpoint, and the end of a line, to a file: nobody sees half of it. What was there is replaced.
 * @returns what removes the file
 * @throws OperatorError
 */
export async function writeReadyFile(path: string, url: string): Promise<() => Promise<void>> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await writeFile(draft, `${url}\n`);
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new OperatorError(`--ready-file: cannot write ${path}: ${(cause as Error).message}`);
  }
  return () => rm(path, { force: true });
}
