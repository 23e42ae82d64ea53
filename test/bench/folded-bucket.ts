import { neverAborted } from '../../shared/ports/event-loop.ts';
import { asService } from '../../shared/storage/version-changes/service-authorisation.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';
import { listObjects } from '../../shared/storage/listings/object-listing.ts';
import type { Objects } from '../../shared/storage/objects/objects.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { emptyObject } from './empty-object.ts';

/** So many are put at a time: a thousand share a sync. */
const together = 1000;

/** Puts empty objects, so many under each of so many prefixes: `000/000000000` and on. */
export async function fillPrefixes(objects: Objects, bucket: Bucket, prefixes: number, keys: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < prefixes * keys; at = next++) {
      const key = `${padded(Math.floor(at / keys), 3)}/${padded(at % keys, 9)}`;
      await objects.put(asService(bucket, key), emptyObject());
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/** The result and the cost of a listing. */
export interface Taken {
  readonly prefixes: readonly string[];
  /** Positions that the table was read from, and the items read. */
  readonly pages: number;
  readonly items: number;
  readonly milliseconds: number;
}

/** Lists a bucket by the delimiter `/`, and counts the reads of its table. */
export async function listFolded(
  deps: { readonly table: KeyValueTable; readonly objects: Objects; readonly clock: Clock },
  bucket: Bucket,
): Promise<Taken> {
  const { table } = deps;
  const visit = table.visit!.bind(table);
  let [pages, items] = [0, 0];
  table.visit = (pk, range, visitor) => {
    pages += 1;
    return visit(pk, range, {
      columns: visitor.columns,
      visit: (item) => {
        items += 1;
        const wanted = visitor.visit(item);
        if (typeof wanted === 'object') pages += 1;
        return wanted;
      },
    });
  };
  const started = performance.now();
  const request = { prefix: '', delimiter: '/', position: undefined, limit: 1000 };
  const { commonPrefixes } = await listObjects({ ...deps, signal: neverAborted }, bucket, request, 60_000, {
    add: () => undefined,
  });
  const milliseconds = performance.now() - started;
  table.visit = visit;
  return { prefixes: commonPrefixes, pages, items, milliseconds };
}
