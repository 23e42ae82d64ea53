import { openTemporaryData } from '../support/disks/temporary-data.ts';
import { fillPrefixes, listFolded } from './folded-bucket.ts';

/** Measures a listing of the few prefixes of a bucket that holds very many keys. */
export async function benchFoldedListing(keys: number, prefixes: number): Promise<void> {
  const { deps, createBucket, remove } = await openTemporaryData();
  try {
    const bucket = await createBucket('bench');
    const began = performance.now();
    await fillPrefixes(deps.objects, bucket, prefixes, keys / prefixes);
    const seconds = (performance.now() - began) / 1000;
    console.log(`${keys.toLocaleString('en')} keys under ${prefixes} prefixes, made in ${seconds.toFixed(1)} s`);
    for (let round = 0; round < 5; round += 1) {
      const taken = await listFolded(deps, bucket);
      console.log(
        `${taken.prefixes.length} prefixes listed: ${taken.pages} pages of the table with ${taken.items} items, ` +
          `${taken.milliseconds.toFixed(2)} ms`,
      );
    }
  } finally {
    await remove();
  }
}
