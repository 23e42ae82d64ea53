import type { Attributes, ItemKey } from '../ports/key-value-table.ts';
import { listedKinds } from '../storage/buckets/bucket-documents.ts';
import { itemKey } from '../storage/table/keys/keys.ts';

/** An item by which a bucket is found. */
export interface BucketListing {
  readonly key: ItemKey;
  readonly put: Attributes;
  /** The attribute that identifies the bucket. */
  readonly mark: string;
}

/** Returns all such items that a bucket must have. The commits that create and change the bucket write them. */
export function listingsOf(name: string, bucket: Attributes): readonly BucketListing[] {
  const {
    id,
    project,
    created,
    docs = {},
  } = bucket as Attributes & {
    readonly id: string;
    readonly project: string;
    readonly created: number;
    readonly docs?: Readonly<Record<string, string>>;
  };
  const kinds = [...listedKinds].filter((kind) => docs[kind] !== undefined);
  return [
    { key: itemKey.ownedBucket(project, name), put: { bucketId: id, created }, mark: 'bucketId' },
    { key: itemKey.bucketName(id), put: { name, project }, mark: 'name' },
    ...kinds.map((kind) => ({ key: itemKey.bucketWith(kind, name), put: { id }, mark: 'id' })),
  ];
}
