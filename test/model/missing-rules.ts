import type { ObjectAuthorisation } from '../../shared/storage/version-changes/object-authorisation.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { partition } from '../../shared/storage/table/keys/keys.ts';
import type { CommitExtrasFor } from '../../shared/storage/version-changes/new-version.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { ContentReferences, type Source } from '../../shared/storage/objects/content-references.ts';
import type { Part, Upload } from '../../shared/storage/uploads/upload.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';
import { ListedVersion } from '../../shared/storage/versions/listed-version.ts';
import type { OlderVersions, OlderVersionsShown } from '../../shared/storage/objects/older-versions.ts';
import { AttributesView } from '../../shared/storage/table/attributes-view.ts';
import type {
  Attributes,
  Change,
  Condition,
  Expectation,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOutcome,
} from '../../shared/ports/key-value-table.ts';
import type { Adapters, Mutation } from './scenario.ts';

/*
 * Removes rules of the data model: by a table between the repositories and the model, or by a subclass of a repository. The repositories
 * themselves are unchanged.
 */

/** A table that forwards every call to another. Its subclasses each drop one rule. */
class Behind implements KeyValueTable {
  readonly freeChecks: boolean;
  protected readonly inner: KeyValueTable;

  constructor(inner: KeyValueTable) {
    this.inner = inner;
    this.freeChecks = inner.freeChecks;
  }

  get(key: ItemKey): Promise<Attributes | undefined> {
    return this.inner.get(key);
  }

  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return this.inner.getTogether(keys);
  }

  query(pk: string, options?: QueryOptions): Promise<QueryPage> {
    return this.inner.query(pk, options);
  }

  scan(options?: ScanOptions): AsyncIterable<Item> {
    return this.inner.scan(options);
  }

  write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    return this.inner.write(changes, conditions);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** Compares the instance of a version instead of the write token of its item. */
class ComparesInstances extends Behind {
  readonly #instances = new Map<string, string>();

  override async get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#note(await super.get(key));
  }

  override async query(pk: string, options?: QueryOptions): Promise<QueryPage> {
    const page = await super.query(pk, options);
    for (const { attributes } of page.items) this.#note(attributes);
    return page;
  }

  override async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return (await super.getTogether(keys)).map((item) => this.#note(item));
  }

  override write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    return super.write(
      changes.map((change) => (change.expect ? { ...change, expect: this.#weaken(change.expect) } : change)),
      conditions,
    );
  }

  #note(item: Attributes | undefined): Attributes | undefined {
    if (typeof item?.['r'] === 'string' && typeof item['i'] === 'string') this.#instances.set(item['r'], item['i']);
    return item;
  }

  #weaken(expect: Expectation): Expectation {
    if (expect.is !== 'equal' || expect.attribute !== 'r') return expect;
    const instance = this.#instances.get(String(expect.value));
    return instance === undefined ? expect : { is: 'equal', attribute: 'i', value: instance };
  }
}

/** Names items such that names chosen by users can collide with those of other kinds of items. */
export class MixesKinds extends Behind {
  override get(key: ItemKey): Promise<Attributes | undefined> {
    return super.get(mixed(key));
  }

  override getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return super.getTogether(keys.map(mixed));
  }

  override query(pk: string, options?: QueryOptions): Promise<QueryPage> {
    return super.query(mixed({ pk, sk: '-' }).pk, options);
  }

  override write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    return super.write(
      changes.map((change) => ({ ...change, key: mixed(change.key) })),
      conditions.map((condition) => ({ ...condition, key: mixed(condition.key) })),
    );
  }
}

/** `<bucket id>/<key>` for the noncurrent versions of a key, `<bucket id>/uploads` for the open uploads of a bucket. */
function mixed({ pk, sk }: ItemKey): ItemKey {
  const [kind, bucketId, ...rest] = pk.split('/');
  if (kind === 'old') return { pk: `${bucketId}/${rest.join('/')}`, sk };
  return { pk: kind === 'uploads' ? `${bucketId}/uploads` : pk, sk };
}

/** Reads related items one after the other. */
class ReadsApart extends Behind {
  override async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    const items: (Attributes | undefined)[] = [];
    for (const key of keys) items.push(await super.get(key));
    return items;
  }
}

/** Treats an item that two plain reads did not find as missing, without another read. */
class LooksOnce extends Behind {
  override async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return keys.map(() => undefined);
  }
}

/** Treats the newest noncurrent version as the previous one. */
class TakesTheNewest extends Behind {
  override async get(key: ItemKey): Promise<Attributes | undefined> {
    if (!key.pk.startsWith('old/')) return super.get(key);
    const { items } = await super.query(key.pk, { limit: 1, reverse: true });
    return items[0]?.attributes;
  }
}

/** Lets an unversioned PUT replace any version. */
class ReplacesBlindly extends Behind {
  override write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    const anything: Expectation = { is: 'any', of: [{ is: 'absent' }, { is: 'present' }] };
    return super.write(
      changes.map((change) => (change.expect?.is === 'any' ? { ...change, expect: anything } : change)),
      conditions,
    );
  }
}

/** Treats every version that left its item, according to the record, as deleted. */
class TrustsRecords extends Behind {
  override async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    const [, , references] = await super.getTogether(keys);
    return [undefined, undefined, references];
  }
}

/** Repeats a conditional write as though its answer had been lost, and returns the second answer. */
class SendsAgain extends Behind {
  override async write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    await super.write(changes, conditions);
    return super.write(changes, conditions);
  }
}

/** Treats a lost answer as a conflict. */
class TakesSilenceForNo extends Behind {
  override async write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    const outcome = await super.write(changes, conditions);
    return outcome.outcome === 'unknown' ? { outcome: 'conflict', failed: [] } : outcome;
  }
}

/** Keeps one part for each number: the next upload of that part replaces it, and frees the bytes of the former. */
class ReplacesParts extends Behind {
  readonly #free: (blob: string) => Promise<void>;

  constructor(inner: KeyValueTable, free: (blob: string) => Promise<void>) {
    super(inner);
    this.#free = free;
  }

  override async write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    const [change] = changes;
    if (change === undefined || !/^upload\/.* p\//.test(`${change.key.pk} ${change.key.sk}`)) {
      return super.write(changes, conditions);
    }
    // All uploads of a part share the item of the first.
    const [first] = (await super.query(change.key.pk, { prefix: change.key.sk.slice(0, 'p/00001/'.length) })).items;
    const { expect: _, ...unconditional } = change;
    const outcome = await super.write([{ ...unconditional, key: first?.key ?? change.key }], conditions);
    const blob = first?.attributes['blob'];
    if ('put' in change && typeof blob === 'string') await this.#free(blob);
    return outcome;
  }
}

/** Counts all records of a batch, even those counted before. */
export class CountsAgain extends Behind {
  override async get(key: ItemKey): Promise<Attributes | undefined> {
    const item = await super.get(key);
    if (item === undefined || !key.pk.startsWith('usage/')) return item;
    const { upTo: _, ...rest } = item;
    return rest;
  }
}

/** Treats a prefix as the range of sort keys up to the prefix and U+00FF. */
export class EndsAtFF extends Behind {
  override async query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    const page = await super.query(pk, options);
    const { prefix } = options;
    if (prefix === undefined || prefix === '') return page;
    const end = Buffer.from(`${prefix}\u00FF`);
    return { ...page, items: page.items.filter(({ key }) => Buffer.compare(Buffer.from(key.sk), end) < 0) };
  }
}

class NeverLooksBack extends Buckets {
  override async standsAfterCommit(): Promise<boolean> {
    return true;
  }
}

class TakesClosingForOpen extends Buckets {
  override async standsAfterCommit(bucket: Bucket): Promise<boolean> {
    return (await this.find(bucket.name))?.id === bucket.id;
  }
}

class TakesClosingForGone extends Buckets {
  override async standsAfterCommit(bucket: Bucket): Promise<boolean> {
    const present = await this.find(bucket.name);
    return present?.id === bucket.id && present.closing === undefined;
  }
}

class CopiesWithoutLooking extends ContentReferences {
  override from(source: Source): CommitExtrasFor {
    const given = super.from(source);
    return async (...about) => ({ ...(await given(...about)), conditions: [] });
  }
}

class CopiesWithoutReferences extends ContentReferences {
  override from(source: Source): CommitExtrasFor {
    const given = super.from(source);
    return async (...about) => ({ ...(await given(...about)), changes: [] });
  }
}

/** Removes a part that arrives too late. */
class RemovesLateParts extends Uploads {
  readonly #adapters: Adapters;

  constructor(adapters: Adapters, { buckets, contents: { manifests } }: Services) {
    super({ ...adapters, buckets, manifests });
    this.#adapters = adapters;
  }

  override async addPart(
    authorisation: ObjectAuthorisation,
    upload: Upload,
    part: Omit<Part, 'id' | 'at'>,
  ): Promise<Part> {
    try {
      return await super.addPart(authorisation, upload, part);
    } catch (error) {
      const { table, blobs } = this.#adapters;
      const { items } = await table.query(`upload/${upload.id}`, { prefix: 'p/' });
      const own = items.find(({ attributes }) => attributes['blob'] === part.blob);
      if (own) await table.write([{ key: own.key, delete: true }]);
      if (part.blob !== undefined) await blobs.remove([part.blob]);
      throw error;
    }
  }
}

/** Lists the current and the noncurrent versions without checking them, although they were read separately. */
class ListsWithoutChecking extends Objects {
  readonly #table: KeyValueTable;
  readonly #belowCurrent: boolean;

  constructor(adapters: Adapters, buckets: Buckets, belowCurrent: boolean) {
    super({ ...adapters, buckets, recorder: undefined });
    this.#table = adapters.table;
    this.#belowCurrent = belowCurrent;
  }

  override async visitOlder(
    bucket: Bucket,
    { key, after }: OlderVersions,
    visit: (version: ListedVersion) => void,
  ): Promise<OlderVersionsShown> {
    const { items } = await this.#table.query(partition.noncurrentVersions(bucket.id, key), {
      ...(this.#belowCurrent && { after }),
      reverse: true,
    });
    const view = new AttributesView(ListedVersion.columns);
    const version = new ListedVersion(view);
    for (const item of items) {
      view.show(item);
      visit(version);
    }
    return 'all';
  }
}

type Services = Parameters<NonNullable<Mutation['services']>>[0];

const withBuckets = (Other: new (adapters: Adapters) => Buckets): Mutation => ({
  services: (services, adapters) => {
    const buckets = new Other(adapters);
    return { ...services, buckets, objects: new Objects({ ...adapters, buckets, recorder: undefined }) };
  },
});

const withTable = (Other: new (inner: KeyValueTable) => KeyValueTable): Mutation => ({
  table: (table) => new Other(table),
});

/** The repositories without each rule. */
export const without = {
  tokens: withTable(ComparesInstances),
  readsOfOneInstant: withTable(ReadsApart),
  aSecondLook: withTable(LooksOnce),
  namesOfTheNext: withTable(TakesTheNewest),
  lookAfterCommit: withBuckets(NeverLooksBack),
  verdictOnClosing: withBuckets(TakesClosingForOpen),
  patienceWithClosing: withBuckets(TakesClosingForGone),
  /** The change of versioning does not settle. */
  settling: {
    services: (services, adapters) => {
      const unsettled = new (class extends Behind {
        override readonly freeChecks = true;
      })(adapters.table);
      const settled = services.buckets.setVersioning.bind(new Buckets({ ...adapters, table: unsettled }));
      return { ...services, buckets: Object.assign(services.buckets, { setVersioning: settled }) };
    },
  },
  refusalOfNames: withTable(ReplacesBlindly),
  lookAtTheSource: {
    services: (services, adapters) => ({ ...services, contentReferences: new CopiesWithoutLooking(adapters) }),
  },
  references: {
    services: (services, adapters) => ({ ...services, contentReferences: new CopiesWithoutReferences(adapters) }),
  },
  lookBeforeRelease: { releaseTable: (table) => new TrustsRecords(table) },
  instantOfRelease: { releaseTable: (table) => new ReadsApart(table) },
  partsOfTheirOwn: {
    services: (services, adapters) => {
      const table = new ReplacesParts(adapters.table, (blob) => adapters.blobs.remove([blob]));
      const { buckets, contents } = services;
      return { ...services, uploads: new Uploads({ ...adapters, table, buckets, manifests: contents.manifests }) };
    },
  },
  latePartsLeftAlone: {
    services: (services, adapters) => ({
      ...services,
      uploads: new RemovesLateParts(adapters, services),
    }),
  },
  onceOnly: withTable(SendsAgain),
  theUnknown: withTable(TakesSilenceForNo),
  orderOfVersions: {
    services: (services, adapters) => ({
      ...services,
      objects: new ListsWithoutChecking(adapters, services.buckets, false),
    }),
  },
  chainCheck: {
    services: (services, adapters) => ({
      ...services,
      objects: new ListsWithoutChecking(adapters, services.buckets, true),
    }),
  },
} as const satisfies Record<string, Mutation>;
