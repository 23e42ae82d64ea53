import { writeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileBlobStore } from '../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../../shared/adapters/embedded/table/lmdb-table.ts';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';

/**
 * A child process of the test with a full disk: `full-disk.ts <directory>`, run under a limit of the size of files. It writes to
 * table and blob store beyond the limit, and prints the outcomes.
 */
const directory = process.argv[2]!;
const environment = await LmdbEnvironment.open(join(directory, 'table'));
const table = new LmdbTable(environment);
const blobs = await FileBlobStore.open(join(directory, 'blobs'), environment);

/** Returns the outcome of a write: busy, if it has changed nothing and may be repeated. */
const outcomeOf = (writing: ReturnType<LmdbTable['write']>): Promise<string> =>
  writing.then(
    ({ outcome }) => outcome,
    (error: unknown) => {
      if (error instanceof TableBusy) return 'busy';
      throw error;
    },
  );

const outcomes: string[] = [];
const written: { pk: string; sk: string; ref: string }[] = [];
const refused: { pk: string; sk: string }[] = [];
async function* little(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(100);
}
for (let turn = 0; turn < 60; turn += 1) {
  const key = { pk: 'items', sk: String(turn).padStart(3, '0') };
  const { ref } = await blobs.write(little(), { bucketId: 'bucket', key: key.sk });
  const outcome = await outcomeOf(table.write([{ key, put: { bytes: new Uint8Array(100_000).fill(turn), ref } }]));
  if (outcome === 'written') written.push({ ...key, ref });
  else refused.push(key);
  if (outcomes.at(-1) !== outcome) outcomes.push(outcome);
}
const together = await Promise.all(
  Array.from({ length: 8 }, (_, n) => {
    const key = { pk: 'more', sk: `${n}` };
    refused.push(key);
    return outcomeOf(table.write([{ key, put: { bytes: new Uint8Array(300_000) } }]));
  }),
);

async function* tooMuch(): AsyncGenerator<Uint8Array> {
  for (let turn = 0; turn < 100; turn += 1) yield new Uint8Array(64 * 1024);
}
const refusal = await blobs
  .write(tooMuch(), { bucketId: 'bucket', key: 'key' })
  .catch((error: NodeJS.ErrnoException) => error.code);
let refusedSmall = 0;
async function* small(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(30_000);
}
for (let turn = 0; turn < 200; turn += 1) {
  await blobs.write(small(), { bucketId: 'bucket', key: 'small' }).catch(() => (refusedSmall += 1));
}

let lost = 0;
for (const { ref, ...key } of written) {
  const hasBlob = await blobs.describe(ref).then(({ size }) => size === 100);
  if ((await table.get(key)) === undefined || !hasBlob) lost += 1;
}
let shown = 0;
for (const key of refused) if ((await table.get(key)) !== undefined) shown += 1;
const left = (await readdir(join(directory, 'blobs'), { recursive: true })).filter((name) => name.length > 2);
await Promise.all([table.close(), blobs.close()]);
const again = await LmdbTable.open(join(directory, 'table'));
for (const key of refused) if ((await again.get(key)) !== undefined) shown += 1;
await again.close();
const told = {
  outcomes,
  written: written.length,
  lost,
  together,
  shown,
  refusal,
  refusedSmall,
  left,
};
writeSync(1, JSON.stringify(told));
