import { rename, rm, writeFile } from 'node:fs/promises';
import { OperatorError } from '../operator-error.ts';

/** The file that tells others where the service is, once it answers. */
export interface ReadyFile {
  /** Writes the endpoint and the end of a line. Nobody sees half of it; what was there is replaced. */
  write(url: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes sure that the file can be written, before there is a service to stop again if it cannot. @throws OperatorError */
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
