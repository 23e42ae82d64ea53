import { decodeItem } from '../../../shared/adapters/encoded-table/item-encoding.ts';
import { decodeItemKey, rangeOf } from '../../../shared/adapters/encoded-table/item-key.ts';
import type { Moment } from '../../../shared/adapters/embedded/table/moment.ts';
import { murmur3, unseal } from '../../../shared/adapters/embedded/table/sealed-item.ts';
import type { Unread } from '../../../shared/backup/backup-record.ts';
import { tableDatabases, type TableEntry } from '../../../shared/backup/table-chunks.ts';
import { ItemDamaged, type Attributes, type ItemKey } from '../../../shared/ports/key-value-table.ts';
import * as keyParts from '../../../shared/storage/table/keys/key-parts.ts';
import { partition } from '../../../shared/storage/table/keys/keys.ts';
import { uploadKeyParts } from '../../../shared/storage/table/keys/upload-keys.ts';
import { decodeContent } from '../../../shared/storage/versions/stored-values.ts';

/** Is told what the table refers to while it is read. */
export interface Told {
  /** Called for each blob of a version, or of a part of an open upload; for shared ones again. */
  readonly onBlob: (ref: string) => void;
  readonly onUnread: (unread: Unread) => void;
}

type Stored = Pick<TableEntry, 'key' | 'value'>;

/** Yields the entries of a table at a moment, after each item was decoded. */
export function* tableEntries(moment: Moment, told: Told): Generator<TableEntry> {
  const blobs = new ReferredBlobs(moment);
  for (const database of tableDatabases) {
    for (const { key, value } of moment.entries(database)) {
      if (database === 'items') tell({ key, value }, blobs, told);
      yield { database, key, value };
    }
  }
}

/** Returns the hash by which entries are cut into chunks. */
export function chunkHash(key: Buffer): number {
  return murmur3(key, 0, key.length, 0);
}

function tell(stored: Stored, blobs: ReferredBlobs, { onBlob, onUnread }: Told): void {
  const key = decodeItemKey(stored.key);
  try {
    for (const ref of blobs.of(key, decoded(stored))) onBlob(ref);
  } catch (error) {
    if (!(error instanceof ItemDamaged)) throw error;
    onUnread({ where: `item ${key.pk} ${key.sk}`, what: error.damage });
  }
}

/** The blobs that items refer to, given in the order of their keys. */
class ReferredBlobs {
  readonly #moment: Moment;
  /** The upload whose parts follow, if it is open: the blobs of others belong to versions, or to nobody. */
  #openUpload: string | undefined;

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** @throws ItemDamaged */
  of(key: ItemKey, item: Attributes): readonly string[] {
    const upload = uploadKeyParts.upload(key);
    if (upload !== undefined) return this.#ofUpload(upload, key, item);
    const content = keyParts.version(key) && (item['c'] as string | undefined);
    if (content === undefined) return [];
    const decodedContent = decodeContent(content);
    return decodedContent.kind === 'blob' ? [decodedContent.ref] : this.#ofManifest(content);
  }

  #ofUpload(upload: string, key: ItemKey, item: Attributes): readonly string[] {
    if (uploadKeyParts.part(key) === undefined) this.#openUpload = item['state'] === 'open' ? upload : undefined;
    const blob = item['blob'] as string | undefined;
    return blob !== undefined && upload === this.#openUpload ? [blob] : [];
  }

  #ofManifest(content: string): readonly string[] {
    const blobs: string[] = [];
    let parts: unknown;
    for (const stored of this.#moment.entries('items', rangeOf(partition.content(content), {}))) {
      const item = decoded(stored);
      const { is } = keyParts.content(decodeItemKey(stored.key));
      if (is === 'manifest') ({ parts } = item);
      if (is === 'slice') blobs.push(...(item['b'] as readonly string[]));
    }
    if (parts !== blobs.length) throw new ItemDamaged('its list of parts is missing or incomplete');
    return blobs.filter((ref) => ref !== '');
  }
}

/** @throws ItemDamaged */
function decoded({ key, value }: Stored): Attributes {
  return decodeItem(unseal(key, value));
}
