import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { BucketAuthorisation } from './authorisation.ts';
import type { Bucket, DocumentKind } from './bucket.ts';
import { timedId } from '../table/keys/ids.ts';
import { itemBytes } from '../table/item-size.ts';
import { itemKey, partition } from '../table/keys/keys.ts';
import { bestEffort, putBeforeCommit } from '../table/settled.ts';

/** The kinds for which there is a list of buckets, so that scheduled work need not read every bucket. */
export const listedKinds: ReadonlySet<DocumentKind> = new Set<DocumentKind>(['lifecycle']);

/** The maximum size of a document's attributes: DynamoDB's 400 KB per item less its keys. */
const documentItemBytes = 398 * 1024;

/** The maximum number of cached documents. */
const cachedDocuments = 1000;

/** A change of a bucket. */
export interface Revision {
  readonly bucket: Bucket;
  /** Further changes in the same write. */
  readonly along?: readonly Change[];
  /** Runs before the write, once the caller's rights are confirmed. */
  readonly first?: () => Promise<void>;
}

/** The part of the repository of buckets that documents need. */
interface RevisedBuckets {
  find(name: string): Promise<Bucket | undefined>;
  revise(
    authorisation: BucketAuthorisation,
    revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>,
  ): Promise<Bucket>;
}

/** The documents of buckets, such as ACL, policy and CORS rules. A document is immutable; the bucket points to its revision. */
export class BucketDocuments {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #buckets: RevisedBuckets;
  /** By revision, which is never reused. */
  readonly #remembered = new Map<string, Attributes>();

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness; buckets: RevisedBuckets }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#buckets = deps.buckets;
  }

  /** Returns a document of the bucket, or undefined if it has none. Caches documents. */
  async of(bucket: Bucket, kind: DocumentKind): Promise<Attributes | undefined> {
    const revision = bucket.documents[kind];
    if (revision === undefined) return undefined;
    const remembered = this.#remembered.get(revision);
    if (remembered) return remembered;
    const document = await this.#table.get(itemKey.bucketDocument(bucket.id, kind, revision));
    if (document) {
      if (this.#remembered.size >= cachedDocuments) this.#remembered.clear();
      this.#remembered.set(revision, document);
      return document;
    }
    // It was replaced after the bucket was read: return its successor.
    const present = await this.#buckets.find(bucket.name);
    if (present?.id !== bucket.id || present.documents[kind] === revision) return undefined;
    return this.of(present, kind);
  }

  /**
   * Sets or removes a document of a bucket. Writes the new one first, then the bucket's pointer, so that a pointer always leads to a
   * document.
   * @param check throws if the bucket, as it is at the commit, must not have this document
   * @throws S3Error NoSuchBucket, SlowDown, ServiceUnavailable, MaxMessageLengthExceeded (too large for an item)
   */
  async set(
    authorisation: BucketAuthorisation,
    kind: DocumentKind,
    document: Attributes | undefined,
    check?: (bucket: Bucket) => void,
  ): Promise<void> {
    if (document && itemBytes(document) > documentItemBytes) throw new S3Error('MaxMessageLengthExceeded');
    const { id } = authorisation.bucket;
    const revision = document && timedId(this.#clock.now(), this.#randomness);
    let former: string | undefined;
    let isWritten = false;
    let isRepeated = false;
    try {
      await this.#buckets.revise(authorisation, async (bucket, attempt) => {
        const current = bucket.documents[kind];
        // Written by an earlier attempt, whose response was lost.
        if (attempt > 0 && current === revision) return undefined;
        check?.(bucket);
        former = current;
        isRepeated = attempt > 0;
        const { [kind]: _, ...others } = bucket.documents;
        return {
          bucket: { ...bucket, documents: revision === undefined ? others : { ...others, [kind]: revision } },
          along: listedKinds.has(kind) ? [listing(bucket, kind, revision)] : [],
          first: async () => {
            if (document === undefined || isWritten) return;
            await putBeforeCommit(this.#table, itemKey.bucketDocument(id, kind, revision!), document);
            isWritten = true;
          },
        };
      });
    } catch (error) {
      // Nothing can refer to the new document any more. If this is uncertain, the bucket purge removes it.
      if (isWritten && !isRepeated && error instanceof S3Error && error.status < 500) {
        await this.#remove(id, kind, revision!);
      }
      throw error;
    }
    // If this fails, the bucket purge removes it.
    if (former !== undefined) await this.#remove(id, kind, former);
  }

  async #remove(bucketId: string, kind: DocumentKind, revision: string): Promise<void> {
    await bestEffort(this.#table.write([{ key: itemKey.bucketDocument(bucketId, kind, revision), delete: true }]));
  }

  /**
   * Adds an attribute to a document that an earlier version of Stillage wrote without it. The revision stays, because the meaning
   * does.
   *
   * @param document as {@link of} returned it, with the addition
   * @param attribute the name of the added attribute
   * @returns the document as stored from now on, possibly by another process that was faster; undefined if it was replaced, or could
   *   not be written, for example by a function with read access only. The next reader tries again
   */
  async complete(
    bucket: Bucket,
    kind: DocumentKind,
    document: Attributes,
    attribute: string,
  ): Promise<Attributes | undefined> {
    const revision = bucket.documents[kind];
    if (revision === undefined) return undefined;
    const key = itemKey.bucketDocument(bucket.id, kind, revision);
    try {
      const expect = { is: 'all', of: [{ is: 'present' }, { is: 'missing', attribute }] } as const;
      // The stored document then shows whether the write happened.
      await bestEffort(this.#table.write([{ key, put: document, expect }]));
    } catch {
      return undefined;
    }
    const stored = await this.#table.get(key);
    if (stored?.[attribute] === undefined) return undefined;
    this.#remembered.set(revision, stored);
    return stored;
  }

  /** Returns a page of the buckets with a document of a listed kind, by name, after `after`. Reads no other buckets. */
  async having(
    kind: DocumentKind,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<{ buckets: readonly { readonly name: string; readonly id: string }[]; more: boolean }> {
    const { items, more } = await this.#table.query(partition.bucketsWith(kind), {
      limit,
      ...(after !== undefined && { after }),
    });
    return { buckets: items.map(({ key, attributes }) => ({ name: key.sk, id: attributes['id'] as string })), more };
  }

  /** Returns the changes that remove a bucket from the lists of those with a document. */
  unlisted(bucket: Bucket): readonly Change[] {
    return [...listedKinds]
      .filter((kind) => bucket.documents[kind] !== undefined)
      .map((kind) => listing(bucket, kind, undefined));
  }
}

/** Returns the change that adds a bucket to the list of those with a document of this kind, or removes it. */
function listing({ name, id }: Bucket, kind: DocumentKind, revision: string | undefined): Change {
  const key = itemKey.bucketWith(kind, name);
  return revision === undefined ? { key, delete: true } : { key, put: { id } };
}
