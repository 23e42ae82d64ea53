import { sealedSize } from '../../../shared/encryption/segments.ts';
import { ItemDamaged, type Attributes, type KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { BlobOwner, BlobRef } from '../../../shared/ports/blob-store.ts';
import * as keyParts from '../../../shared/storage/table/keys/key-parts.ts';
import { itemKey, kinds, partition } from '../../../shared/storage/table/keys/keys.ts';
import { isSlice } from '../../../shared/storage/table/keys/migration-keys.ts';
import { uploadKeyParts } from '../../../shared/storage/table/keys/upload-keys.ts';
import { partitionItems } from '../../../shared/storage/table/pages.ts';
import { decodeContent } from '../../../shared/storage/versions/stored-values.ts';

/** A blob of a version, or of a part of an open upload. */
export interface ReferredBlob {
  readonly ref: BlobRef;
  /** In bytes, as it is stored. */
  readonly size: number;
  readonly owner: BlobOwner;
}

/**
 * Yields the blobs that a table refers to; shared ones, and those of shared manifests, again. What versions no longer have, and what ended uploads
 * left behind, is for nobody.
 * @param onDamaged called for each item that cannot be read
 */
export async function* referredBlobs(
  table: KeyValueTable,
  onDamaged: (error: ItemDamaged) => void,
): AsyncGenerator<ReferredBlob> {
  /** The upload whose parts follow, if it is open. */
  let open: { readonly id: string; readonly state: Attributes } | undefined;
  const prefixes = [kinds.currentVersion, kinds.noncurrentVersion, kinds.upload];
  for await (const { key, attributes } of table.scan({ prefixes, onDamaged })) {
    const upload = uploadKeyParts.upload(key);
    if (upload !== undefined && uploadKeyParts.part(key) === undefined) {
      open = attributes['state'] === 'open' ? { id: upload, state: attributes } : undefined;
    } else if (upload !== undefined) {
      const ref = attributes['blob'] as string | undefined;
      if (ref === undefined || open?.id !== upload) continue;
      const { state } = open;
      const owner = { bucketId: state['bucketId'] as string, key: state['key'] as string };
      yield { ref, size: storedSize(attributes['size'] as number, state), owner };
    } else {
      const owner = keyParts.version(key)!;
      try {
        yield* blobsOf(table, attributes, owner);
      } catch (error) {
        if (!(error instanceof ItemDamaged)) throw error;
        onDamaged(error);
      }
    }
  }
}

async function* blobsOf(table: KeyValueTable, version: Attributes, owner: BlobOwner): AsyncGenerator<ReferredBlob> {
  const stored = version['c'] as string | undefined;
  if (stored === undefined) return;
  const content = decodeContent(stored);
  if (content.kind === 'blob') {
    yield { ref: content.ref, size: storedSize(version['s'] as number, version), owner };
    return;
  }
  const directory = itemKey.manifest(content.id);
  const expected = (await table.get(directory))?.['parts'];
  let parts = 0;
  for await (const item of partitionItems(table, partition.content(stored))) {
    if (!isSlice(item)) continue;
    const refs = item.attributes['b'] as readonly string[];
    const sizes = item.attributes['s'] as readonly number[];
    parts += refs.length;
    for (const [at, ref] of refs.entries()) if (ref !== '') yield { ref, size: storedSize(sizes[at]!, version), owner };
  }
  if (parts !== expected) throw new ItemDamaged('its list of parts is missing or incomplete', directory);
}

/** @param of the version or the upload, which says whether its bytes are encrypted */
function storedSize(size: number, of: Attributes): number {
  return of['x'] === undefined ? size : sealedSize(size);
}
