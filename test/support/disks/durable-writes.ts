import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { FileBlobStore } from '../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../../shared/adapters/embedded/table/lmdb-table.ts';

/**
 * A child process of the durability tests: `durable-writes.ts <directory> <writers> <writes of each> <run>`. Every write stores a
 * blob, small and large in turn, then two items that name it, and only then acknowledges on standard output:
 * `<run>-<writer>-<turn> <ref>`.
 */
const [directory, writers, turns, run] = process.argv.slice(2) as [string, string, string, string];

const environment = await LmdbEnvironment.open(join(directory, 'table'));
const blobs = await FileBlobStore.open(join(directory, 'blobs'), environment);
const table = new LmdbTable(environment);
writeSync(1, 'ready\n');

async function* content(name: string, turn: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${name} `.repeat(turn % 2 === 0 ? 200 : 20_000));
}

async function write(name: string, turn: number): Promise<void> {
  const { ref } = await blobs.write(content(name, turn), { bucketId: 'bucket', key: name });
  const { outcome } = await table.write([
    { key: { pk: 'one', sk: name }, put: { ref }, expect: { is: 'absent' } },
    { key: { pk: 'two', sk: name }, put: { ref }, expect: { is: 'absent' } },
  ]);
  if (outcome !== 'written') throw new Error(`the write of ${name} ended as ${outcome}`);
  writeSync(1, `${name} ${ref}\n`);
}

await Promise.all(
  Array.from({ length: Number(writers) }, async (_, writer) => {
    for (let turn = 0; turn < Number(turns); turn += 1) await write(`${run}-${writer}-${turn}`, turn);
  }),
);
await Promise.all([table.close(), blobs.close()]);
