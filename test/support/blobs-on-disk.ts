import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceUnderTest } from './service-under-test.ts';

/** How many blobs the embedded store has; undefined where the service was not started here, and so nobody can look. */
export async function blobCount({ started }: ServiceUnderTest): Promise<number | undefined> {
  if (started === undefined) return undefined;
  const entries = await readdir(join(started.data, 'blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
