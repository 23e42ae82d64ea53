import { byOperator } from '../../shared/metadata/objects/service-authorisation.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lifecycleDeps } from '../../functions/runtime/compose/lifecycle.ts';
import { openData } from '../../functions/runtime/local/data-directory.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { fillPrefixes, listFolded } from './folded-bucket.ts';

/** What it takes to list the few prefixes of a bucket that holds very many keys. */
export async function benchFoldedListing(keys: number, prefixes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const opened = await openData(folder);
  try {
    const deps = { ...lifecycleDeps({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() }) };
    await deps.buckets.create(byOperator, 'bench', 'project', 1000);
    const bucket = await deps.buckets.load('bench');
    const began = performance.now();
    await fillPrefixes(deps.objects, bucket, prefixes, keys / prefixes);
    const seconds = (performance.now() - began) / 1000;
    console.log(`${keys.toLocaleString('en')} keys under ${prefixes} prefixes, made in ${seconds.toFixed(1)} s`);
    for (let round = 0; round < 5; round += 1) {
      const taken = await listFolded({ ...deps, table: opened.table }, bucket);
      console.log(
        `${taken.prefixes.length} prefixes listed: ${taken.pages} pages of the table with ${taken.items} items, ` +
          `${taken.milliseconds.toFixed(2)} ms`,
      );
    }
  } finally {
    await Promise.all([opened.table.close(), opened.blobs.close()]);
    await rm(folder, { recursive: true });
  }
}
