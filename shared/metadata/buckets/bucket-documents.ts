import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { BucketAuthorisation } from './authorisation.ts';
import type { Bucket, DocumentKind } from './bucket.ts';
import { timedId } from '../table/ids.ts';
import { itemBytes } from '../table/item-size.ts';
import { itemKey, partition } from '../table/keys.ts';

/** Kinds whose buckets are listed, for scheduled work that must not look at every bucket there is. */
export const listedKinds: ReadonlySet<DocumentKind> = new Set<DocumentKind>(['lifecycle']);

/** What of an item may be attributes, under DynamoDB's 400 KB: the keys take the rest. */
const documentItemBytes = 398 * 1024;

/** How many documents are remembered. */
const cachedDocuments = 1000;

/** What is written of a bucket, and along with it. */
export interface Revision {
  readonly bucket: Bucket;
  readonly along?: readonly Change[];
  /** What must be done before, once it is known that the caller may make the change. */
  readonly first?: () => Promise<void>;
}

/** What documents need of the repository of buckets. */
interface RevisedBuckets {
  find(name: string): Promise<Bucket | undefined>;
  revise(
    authorisation: BucketAuthorisation,
    revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>,
  ): Promise<Bucket>;
}

/** What a bucket may be given to say of itself: its ACL, policy, rules. Documents are immutable; the bucket points to them. */
export class BucketDocuments {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #buckets: RevisedBuckets;
  /** By their revisions, which are never used again. */
  readonly #remembered = new Map<string, Attributes>();

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness; buckets: RevisedBuckets }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#buckets = deps.buckets;
  }

  /** A document of the bucket, or undefined if it has none. One that was read before need not be read again. */
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
    // It was replaced since the bucket was read: what it was replaced by is the answer now.
    const present = await this.#buckets.find(bucket.name);
    if (present?.id !== bucket.id || present.documents[kind] === revision) return undefined;
    return this.of(present, kind);
  }

  /**
   * Sets a document of a bucket, or takes it away. The new one is written first, then the bucket's pointer, so whoever has
   * read the bucket finds the document it speaks of.
   * @param check throws if the bucket, as it is at the commit, must not have this document
   * @throws S3Error NoSuchBucket, SlowDown, MaxMessageLengthExceeded (no item of the table could hold it)
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
        // Our own write, whose answer was lost.
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
            await this.#table.write([{ key: itemKey.bucketDocument(id, kind, revision!), put: document }]);
            isWritten = true;
          },
        };
      });
    } catch (error) {
      // What nothing can come to refer to any more is not kept; else it goes when the remains of the bucket are swept.
      if (isWritten && !isRepeated && error instanceof S3Error && error.status < 500) {
        await this.#remove(id, kind, revision!);
      }
      throw error;
    }
    // Left undone, it goes when the remains of the bucket are swept.
    if (former !== undefined) await this.#remove(id, kind, former);
  }

  async #remove(bucketId: string, kind: DocumentKind, revision: string): Promise<void> {
    await this.#table.write([{ key: itemKey.bucketDocument(bucketId, kind, revision), delete: true }]);
  }

  /**
   * Adds to a document what an earlier version has not written into it. Its revision stays, because it says the same as before.
   *
   * @param document as {@link of} gave it, and more
   * @param attribute one that the document has not without
   * @returns the document as it is kept from now on, which is another's if that was first; undefined: it was replaced, or could not be
   *   written, by a function that may only read, say. Whoever reads it next tries again
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
      await this.#table.write([{ key, put: document, expect }]);
    } catch {
      return undefined;
    }
    const stored = await this.#table.get(key);
    if (stored?.[attribute] === undefined) return undefined;
    this.#remembered.set(revision, stored);
    return stored;
  }

  /** Buckets that have a document of a listed kind, by name, behind `after`. What else there is, is not read. */
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

  /** The changes that take a bucket off the lists of those with a document. */
  unlisted(bucket: Bucket): readonly Change[] {
    return [...listedKinds]
      .filter((kind) => bucket.documents[kind] !== undefined)
      .map((kind) => listing(bucket, kind, undefined));
  }
}

/** The change that lists a bucket among those with a document of this kind, or takes it off the list. */
function listing({ name, id }: Bucket, kind: DocumentKind, revision: string | undefined): Change {
  const key = itemKey.bucketWith(kind, name);
  return revision === undefined ? { key, delete: true } : { key, put: { id } };
}
