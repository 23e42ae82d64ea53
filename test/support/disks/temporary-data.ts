import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lifecycleDeps } from '../../../functions/compose/lifecycle.ts';
import { openData } from '../../../local/server/data-directory/data-directory.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import type { LifecycleDeps } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';

/** A new data directory that is open in this process, without a service. */
export interface TemporaryData {
  readonly deps: LifecycleDeps & { readonly table: KeyValueTable };
  readonly createBucket: (name: string) => Promise<Bucket>;
  /** Closes the directory and removes it. */
  readonly remove: () => Promise<void>;
}

/** Creates and opens a data directory. @param parent default: the system's folder for temporary files */
export async function openTemporaryData(parent = tmpdir()): Promise<TemporaryData> {
  const folder = await mkdtemp(join(parent, 'stillage-test-'));
  const opened = await openData(folder);
  const adapters = { ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() };
  const deps = { ...lifecycleDeps(adapters), table: opened.table };
  return {
    deps,
    createBucket: async (name) => {
      await deps.buckets.create(byOperator, name, 'project', 1000);
      return deps.buckets.load(name);
    },
    remove: async () => {
      await Promise.all([opened.table.close(), opened.blobs.close()]);
      await rm(folder, { recursive: true });
    },
  };
}
