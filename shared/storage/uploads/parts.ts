import type { Change, KeyValueTable } from '../../ports/key-value-table.ts';
import type { ObjectAuthorisation } from '../version-changes/object-authorisation.ts';
import { sortableTime } from '../table/keys/ids.ts';
import { garbagePartitionOf, itemKey } from '../table/keys/keys.ts';
import { conflict, optimistically } from '../table/optimistic-write.ts';
import { partitionPages } from '../table/pages.ts';
import { partKey, partPrefix, partsPrefix, uploadPartition } from '../table/keys/upload-keys.ts';
import type { UploadChanges } from './upload-changes.ts';
import { decodePart, encodePart, maxIdLength, type Part, type Upload } from './upload.ts';

/** The number of uploads of the same part that are kept, the newest, until CompleteMultipartUpload selects one by its ETag. */
export const keptUploadsOfPart = 8;
/** The bytes that the item of a part counts for towards quotas, besides its content: parts may be empty. */
export const partItemBytes = 256;
/** The number of parts that one write releases: two items for each, and the state of the upload. */
const releasedAtOnce = 40;

/** Parts of an upload were released after it was read, possibly some of those selected for the object. */
export class PartsReleased extends Error {
  constructor() {
    super('parts of the upload were released meanwhile');
  }
}

/** Records a part: implements `Uploads.addPart`. */
export async function addPart(
  changes: UploadChanges,
  { bucket }: ObjectAuthorisation,
  upload: Upload,
  part: Omit<Part, 'id' | 'at'>,
): Promise<Part> {
  const at = changes.clock.now();
  const added = { ...part, at, id: changes.id(at) };
  await changes.add(bucket, [
    {
      key: partKey(upload.id, added),
      // The usage counters need the bucket.
      put: { ...encodePart(added), bucketId: upload.bucketId, held: partItemBytes },
      expect: { is: 'absent' },
    },
  ]);
  await changes.open(bucket.id, upload.key, upload.id);
  return added;
}

/** Releases the older uploads of a part number: implements `Uploads.releaseOldParts`. */
export async function releaseOldParts(changes: UploadChanges, id: string, number: number): Promise<void> {
  const { table } = changes;
  const releaseSome = async (): Promise<'done' | 'more' | typeof conflict> => {
    const { items } = await table.query(uploadPartition(id), {
      ...{ prefix: partPrefix(number), reverse: true, limit: keptUploadsOfPart + releasedAtOnce },
    });
    const old = items.slice(keptUploadsOfPart).map(decodePart);
    if (old.length === 0) return 'done';
    const upload = await changes.byId(id);
    // When an upload ends, all of its parts are cleaned up.
    if (upload?.state !== 'open') return 'done';
    const due = sortableTime(changes.clock.now());
    const { outcome } = await table.write([
      changes.changed(upload, { releases: upload.releases + 1 }),
      ...old.map((part): Change => ({ key: partKey(id, part), delete: true, expect: { is: 'present' } })),
      ...old.flatMap((part) => released(upload, part, due)),
    ]);
    return outcome === 'written' ? 'more' : conflict;
  };
  const exhausted = (): never => {
    throw new Error(`old parts of upload ${id} could not be released`);
  };
  while ((await optimistically(releaseSome, exhausted)) === 'more');
}

/** Returns the change that queues the bytes of a part for removal at once: no version refers to them, and parts cannot be read. */
function released({ bucketId, key }: Upload, { id, blob, size }: Part, due: string): readonly Change[] {
  if (blob === undefined) return [];
  return [{ key: itemKey.garbage(garbagePartitionOf(id), due, `b${blob}`, id), put: { bucketId, key, size } }];
}

/** Returns all parts of an upload in the order of their numbers, and of their age within a number. */
export async function partsOf(table: KeyValueTable, id: string): Promise<readonly Part[]> {
  const parts: Part[] = [];
  if (id.length > maxIdLength) return parts;
  for await (const items of partitionPages(table, uploadPartition(id), { prefix: partsPrefix })) {
    for (const item of items) parts.push(decodePart(item));
  }
  return parts;
}
