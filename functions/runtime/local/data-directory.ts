import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { FileBlobStore } from '../../../shared/adapters/embedded/file-blob-store.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/lmdb-environment.ts';
import { LmdbTable } from '../../../shared/adapters/embedded/lmdb-table.ts';
import { isFollowed } from '../../../shared/metadata/keys.ts';
import { OperatorError } from '../operator-error.ts';

/** What lies in a data directory, opened. Several processes may have it open: what one has written the others see. */
export interface DataDirectory {
  readonly secrets: KeyFileSecrets;
  readonly table: LmdbTable;
  readonly blobs: FileBlobStore;
}

/** Opens a data directory, which is created if it is missing. @throws OperatorError */
export async function openData(data: string): Promise<DataDirectory> {
  try {
    await ensureDirectory(data);
    const secrets = await KeyFileSecrets.open(join(data, 'master.key'));
    const environment = await LmdbEnvironment.open(join(data, 'table'));
    const table = new LmdbTable(environment, { isFollowed });
    return { secrets, table, blobs: await FileBlobStore.open(join(data, 'blobs'), environment) };
  } catch (cause) {
    throw new OperatorError(`--data: cannot use ${data}: ${(cause as Error).message}`);
  }
}

/** Opens a data directory that a service has been started on. A new key file would open none of its secrets. @throws OperatorError */
export async function openExistingData(data: string): Promise<DataDirectory> {
  for (const name of ['table', 'master.key']) {
    await access(join(data, name)).catch(() => {
      throw new OperatorError(
        `--data: there is no ${name} in ${data}; name the directory of the service, or start one on it first`,
      );
    });
  }
  return openData(data);
}
