import { rename, rm, writeFile } from 'node:fs/promises';
import { OperatorError } from '../operator-error.ts';

/** The file with the endpoint of the service, written once the service answers. */
export interface ReadyFile {
  /** Writes the endpoint and a line break, atomically replacing the file. */
  write(url: string): Promise<void>;
  remove(): Promise<void>;
}

/** Checks that the file can be written, before the service starts. @throws OperatorError */
export async function openReadyFile(path: string): Promise<ReadyFile> {
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, '').catch((cause: unknown) => {
    throw new OperatorError(`--ready-file: cannot write ${path}: ${(cause as Error).message}`);
  });
  return {
    write: async (url) => {
      await writeFile(draft, `${url}\n`);
      await rename(draft, path);
    },
    remove: async () => {
      await Promise.all([path, draft].map((each) => rm(each, { force: true })));
    },
  };
}
