import { join } from 'node:path';
import { expect } from 'vitest';
import { FileBlobStore } from '../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { sharedStoresVariable } from '../programs/shared-stores.ts';
import type { ServiceUnderTest } from '../programs/service-under-test.ts';

/** The blobs of the embedded store, as another process sees them. */
export async function blobsBelow(data: string): Promise<string[]> {
  const store = await FileBlobStore.open(join(data, 'blobs'), await LmdbEnvironment.open(join(data, 'table')));
  const refs: string[] = [];
  for await (const { ref } of store.list()) refs.push(ref);
  await store.close();
  return refs.sort();
}

/**
 * Counts the blobs that came into the embedded store since this call and are still there: earlier blobs may be freed at any time, if they
 * belong to deleted versions. If the service was not started here, or has no data directory, they are inaccessible, and every expectation holds.
 */
export async function newBlobs({ started }: ServiceUnderTest): Promise<{ expectCount(count: number): Promise<void> }> {
  if (!started || sharedStoresVariable in process.env) return { expectCount: () => Promise.resolve() };
  const { data } = started;
  const before = new Set(await blobsBelow(data));
  return {
    async expectCount(count) {
      expect((await blobsBelow(data)).filter((ref) => !before.has(ref))).toHaveLength(count);
    },
  };
}
