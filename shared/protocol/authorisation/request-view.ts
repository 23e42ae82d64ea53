import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Buckets } from '../../metadata/buckets/buckets.ts';
import type { Objects } from '../../metadata/objects/objects.ts';
import type { ObjectAttributes } from '../../metadata/objects/object-attributes.ts';
import type { Version } from '../../metadata/objects/versions.ts';

/**
 * What one request sees: each bucket and each version is read once, by whoever asks first. So the version whose ACL was judged is
 * the one that is served, whatever takes its place meanwhile; and where authorisation does not need to look, nothing is read twice.
 */
export class RequestView {
  readonly #buckets: Buckets;
  readonly #objects: Objects;
  readonly #seenBuckets: Map<string, Promise<Bucket>>;
  readonly #versions = new Map<string, Promise<Version | undefined>>();
  readonly #objectAttributes = new Map<Version, Promise<ObjectAttributes>>();

  /** @param addressed the bucket that the request was sent to, if it was read already */
  constructor(deps: { readonly buckets: Buckets; readonly objects: Objects }, addressed: Bucket | undefined) {
    this.#buckets = deps.buckets;
    this.#objects = deps.objects;
    this.#seenBuckets = new Map(addressed && [[addressed.name, Promise.resolve(addressed)]]);
  }

  /** The bucket of this name. @throws S3Error NoSuchBucket */
  bucket(name: string): Promise<Bucket> {
    return seen(this.#seenBuckets, name, () => this.#buckets.load(name));
  }

  /** As Objects.find. */
  find(bucket: Bucket, key: string, versionId?: string): Promise<Version | undefined> {
    return seen(this.#versions, nameOf(bucket, key, versionId), () => this.#objects.find(bucket, key, versionId));
  }

  /** As Objects.objectAttributes. */
  objectAttributes(version: Version): Promise<ObjectAttributes> {
    return seen(this.#objectAttributes, version, () => this.#objects.objectAttributes(version));
  }

  /** Forgets the objects, for a request that begins again. Whatever it goes on to read must be judged anew. */
  forget(): void {
    this.#versions.clear();
    this.#objectAttributes.clear();
  }
}

function seen<Name, Value>(known: Map<Name, Promise<Value>>, name: Name, read: () => Promise<Value>): Promise<Value> {
  const found = known.get(name) ?? read();
  known.set(name, found);
  return found;
}

function nameOf(bucket: Bucket, key: string, versionId: string | undefined): string {
  return JSON.stringify([bucket.id, key, versionId]);
}
