import { join } from 'node:path';
import { FileBlobStore } from '../../shared/adapters/embedded/file-blob-store.ts';
import { LmdbEnvironment } from '../../shared/adapters/embedded/lmdb-environment.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

/** The blobs of the embedded store, as another process sees them. */
export async function blobsBelow(data: string): Promise<string[]> {
  const store = await FileBlobStore.open(join(data, 'blobs'), await LmdbEnvironment.open(join(data, 'table')));
  const refs: string[] = [];
  for await (const { ref } of store.list()) refs.push(ref);
  await store.close();
  return refs.sort();
}

/** How many blobs the embedded store has; undefined where the service was not started here, and so nobody can look. */
export async function blobCount({ started }: ServiceUnderTest): Promise<number | undefined> {
  return started && (await blobsBelow(started.data)).length;
}
