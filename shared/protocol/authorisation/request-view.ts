import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Buckets } from '../../storage/buckets/buckets.ts';
import type { Objects } from '../../storage/objects/objects.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import { referencesOf, type Version } from '../../storage/versions/versions.ts';
import type { Reader } from '../../storage/removal/readers.ts';

/**
 * The buckets and versions that one request sees: each is read once, on first use. The version whose ACL was evaluated
 * is therefore the one served, even if it is replaced meanwhile, and nothing is read twice.
 */
export class RequestView {
  readonly #buckets: Buckets;
  readonly #objects: Objects;
  readonly #reader: Reader | undefined;
  readonly #seenBuckets: Map<string, Promise<Bucket>>;
  readonly #versions = new Map<string, Promise<Version | undefined>>();
  readonly #objectAttributes = new Map<Version, Promise<ObjectAttributes>>();

  /**
   * @param deps.reader holds what the versions refer to, where it could be freed before the request has ended
   * @param addressed the bucket that the request was sent to, if already read
   */
  constructor(
    deps: { readonly buckets: Buckets; readonly objects: Objects; readonly reader?: Reader | undefined },
    addressed: Bucket | undefined,
  ) {
    this.#buckets = deps.buckets;
    this.#objects = deps.objects;
    this.#reader = deps.reader;
    this.#seenBuckets = new Map(addressed && [[addressed.name, Promise.resolve(addressed)]]);
  }

  /** Returns the bucket with this name. @throws S3Error NoSuchBucket */
  bucket(name: string): Promise<Bucket> {
    return seen(this.#seenBuckets, name, () => this.#buckets.loadRecent(name));
  }

  /** Returns the bucket with this name if it was asked for before: nothing is read for it. */
  seenBucket(name: string): Promise<Bucket> | undefined {
    return this.#seenBuckets.get(name);
  }

  /** See Objects.find. */
  find(bucket: Bucket, key: string, versionId?: string): Promise<Version | undefined> {
    return seen(this.#versions, nameOf(bucket, key, versionId), () => this.#find(bucket, key, versionId));
  }

  #find(bucket: Bucket, key: string, versionId: string | undefined): Promise<Version | undefined> {
    const reader = this.#reader;
    if (reader === undefined) return this.#objects.find(bucket, key, versionId);
    return reader.working(async () => {
      const version = await this.#objects.find(bucket, key, versionId);
      if (version) reader.hold(referencesOf(version));
      return version;
    });
  }

  /** See Objects.objectAttributes. */
  objectAttributes(version: Version): Promise<ObjectAttributes> {
    return seen(this.#objectAttributes, version, () => this.#objects.objectAttributes(version));
  }

  /** Forgets the objects, for a request that starts over. Whatever it reads then must be authorised again. */
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
