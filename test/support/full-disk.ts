import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { FileBlobStore } from '../../shared/adapters/embedded/file-blob-store.ts';
import { LmdbTable } from '../../shared/adapters/embedded/lmdb-table.ts';

/**
 * A child process of the test with a full disk: `full-disk.ts <directory>`, run under a limit of the size of files. It writes to
 * table and blob store beyond the limit, and tells how that ended.
 */
const directory = process.argv[2]!;
const table = await LmdbTable.open(join(directory, 'table'));
const blobs = await FileBlobStore.open(join(directory, 'blobs'));

const outcomes: string[] = [];
const written: { pk: string; sk: string }[] = [];
for (let turn = 0; turn < 60; turn += 1) {
  const key = { pk: 'items', sk: String(turn).padStart(3, '0') };
  const { outcome } = await table.write([{ key, put: { bytes: new Uint8Array(100_000).fill(turn) } }]);
  if (outcome === 'written') written.push(key);
  if (outcomes.at(-1) !== outcome) outcomes.push(outcome);
}
const together = await Promise.all(
  Array.from({ length: 8 }, (_, n) =>
    table.write([{ key: { pk: 'more', sk: `${n}` }, put: { bytes: new Uint8Array(300_000) } }]),
  ),
);

async function* tooMuch(): AsyncGenerator<Uint8Array> {
  for (let turn = 0; turn < 100; turn += 1) yield new Uint8Array(64 * 1024);
}
const refusal = await blobs
  .write(tooMuch(), { bucketId: 'bucket', key: 'key' })
  .catch((error: NodeJS.ErrnoException) => error.code);
const left: string[] = [];
for await (const blob of blobs.list()) left.push(blob.ref);

let lost = 0;
for (const key of written) if ((await table.get(key)) === undefined) lost += 1;
await Promise.all([table.close(), blobs.close()]);
const told = {
  outcomes,
  written: written.length,
  lost,
  together: together.map(({ outcome }) => outcome),
  refusal,
  left,
};
writeSync(1, JSON.stringify(told));
