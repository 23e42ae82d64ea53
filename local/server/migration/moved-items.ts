import type { BlobRef } from '../../../shared/ports/blob-store.ts';
import type { Attributes, Item, KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import * as keyParts from '../../../shared/storage/table/keys/key-parts.ts';
import { blobNamed, isSlice, migrationKey, namingBlob } from '../../../shared/storage/table/keys/migration-keys.ts';
import { uploadKeyParts } from '../../../shared/storage/table/keys/upload-keys.ts';
import { decodeContent, encodeContent } from '../../../shared/storage/versions/stored-values.ts';

/** The number of items that `getTogether` reads, and of such reads at a time. */
const readTogether = 10;
const readsAtOnce = 16;

/** Returns the reference of a moved blob by its former one. */
type RefOf = (ref: BlobRef) => BlobRef;

/**
 * Returns items as they are in the target, whose blobs have other references. What has not been moved, as nothing refers to it but the queue of
 * what is to be released, keeps a reference that the target does not have.
 * @param target records what was moved
 */
export async function movedItems(target: KeyValueTable, items: readonly Item[]): Promise<readonly Item[]> {
  const refs = [...new Set(items.flatMap(refsIn))];
  const moved = new Map<BlobRef, BlobRef>();
  const groups = Array.from({ length: Math.ceil(refs.length / readTogether) }, (_, at) =>
    refs.slice(at * readTogether, (at + 1) * readTogether),
  );
  await inParallel(groups, Math.min(readsAtOnce, groups.length), async (group) => {
    const found = await target.getTogether(group.map(migrationKey.movedBlob));
    for (const [at, item] of found.entries()) if (item) moved.set(group[at]!, item['ref'] as string);
  });
  return items.map((item) => withRefs(item, (ref) => moved.get(ref) ?? ref));
}

/** Returns the references of blobs in an item, also in its key. */
function refsIn(item: Item): readonly BlobRef[] {
  const refs: BlobRef[] = [];
  withRefs(item, (ref) => {
    refs.push(ref);
    return ref;
  });
  return refs;
}

/** Returns an item with other references in the place of its own. */
function withRefs({ key, attributes }: Item, refOf: RefOf): Item {
  const named = blobNamed(key);
  if (named !== undefined) return { key: namingBlob(key, refOf(named)), attributes };
  return { key, attributes: { ...attributes, ...changedAttributes({ key, attributes }, refOf) } };
}

/** Returns the attributes that have references, with others. The empty reference is that of a part without bytes. */
function changedAttributes({ key, attributes }: Item, refOf: RefOf): Attributes {
  const { c: stored, b: slice, blob } = attributes;
  if (typeof stored === 'string' && keyParts.version(key) !== undefined) {
    const content = decodeContent(stored);
    return content.kind === 'blob' ? { c: encodeContent({ ...content, ref: refOf(content.ref) }) } : {};
  }
  if (Array.isArray(slice) && isSlice({ key, attributes })) {
    return { b: (slice as readonly string[]).map((ref) => (ref === '' ? ref : refOf(ref))) };
  }
  return typeof blob === 'string' && uploadKeyParts.part(key) !== undefined ? { blob: refOf(blob) } : {};
}
