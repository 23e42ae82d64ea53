import { asService, byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { lifecycleDeps } from '../../../functions/compose/lifecycle.ts';
import type { LifecycleDeps } from '../../../shared/lifecycle/apply-lifecycle.ts';
import type { Versioning } from '../../../shared/storage/buckets/bucket.ts';
import { realDays } from '../../../shared/lifecycle/lifecycle.ts';
import { noObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import type { Version } from '../../../shared/storage/versions/versions.ts';
import { BucketPurge } from '../../../shared/storage/removal/bucket-purge.ts';
import { MemoryBlobs } from '../../model/memory-blobs.ts';
import { CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

export const day = 24 * 60 * 60 * 1000;

/** A clock that stands still but for those who wait: for whole milliseconds, as `Date.now()` has no others. */
class WaitedClock extends SetClock {
  override async sleep(milliseconds = 0): Promise<void> {
    this.time += Math.ceil(milliseconds);
    await new Promise(setImmediate);
  }
}

/** A deployment in memory with one bucket, and the actions of tests. */
export class LifecycleWorld {
  readonly table: MemoryTable;
  readonly clock = new WaitedClock();
  readonly deps: LifecycleDeps;
  readonly name: string;

  private constructor(table: MemoryTable, name: string) {
    this.table = table;
    this.name = name;
    this.deps = lifecycleDeps({
      table,
      blobs: new MemoryBlobs().of('lifecycle', () => this.clock.now()),
      clock: this.clock,
      randomness: new CountedBytes(),
    });
  }

  static async create({
    versioning = 'off',
    freeChecks = true,
    name = 'bucket',
    table = new MemoryTable({ freeChecks }),
  }: {
    readonly versioning?: Versioning;
    readonly freeChecks?: boolean;
    readonly name?: string;
    readonly table?: MemoryTable;
  } = {}): Promise<LifecycleWorld> {
    const world = new LifecycleWorld(table, name);
    await world.deps.buckets.create(byOperator, name, 'project', 100);
    await world.setVersioning(versioning);
    return world;
  }

  async setVersioning(versioning: Versioning): Promise<void> {
    if (versioning !== 'off')
      await this.deps.buckets.setVersioning(asService(await this.deps.buckets.load(this.name)), versioning);
  }

  /** Sets the rules in their stored form, with defaults for omitted parts. */
  async setRules(...rules: readonly object[]): Promise<void> {
    const stored = rules.map((rule, at) => ({
      id: `rule ${at}`,
      status: 'Enabled',
      scope: { form: 'filter' },
      ...rule,
    }));
    await this.deps.buckets.documents.set(asService(await this.deps.buckets.load(this.name)), 'lifecycle', {
      rules: stored,
    });
  }

  async put(key: string, { size = 1, tags = [] as [string, string][], metadataBytes = 0 } = {}): Promise<Version> {
    const bucket = await this.deps.buckets.load(this.name);
    const metadata = metadataBytes > 0 ? { long: 'x'.repeat(metadataBytes) } : {};
    return this.deps.objects.put(asService(bucket, key), {
      marker: false,
      size,
      md5: Buffer.alloc(16),
      content: { kind: 'blob', ref: `blob-${key}` },
      owner: 'project',
      contentType: undefined,
      checksum: undefined,
      encryption: undefined,
      objectAttributes: { ...noObjectAttributes, metadata, tags },
    });
  }

  async delete(key: string): Promise<void> {
    await this.deps.objects.remove({
      by: 'request',
      authorisation: asService(await this.deps.buckets.load(this.name), key),
      owner: 'project',
    });
  }

  async deleteVersion(key: string, versionId: string): Promise<void> {
    await this.deps.objects.remove({
      by: 'request',
      authorisation: asService(await this.deps.buckets.load(this.name), key, versionId),
      owner: 'project',
    });
  }

  async tag(key: string, versionId: string | undefined, tags: readonly (readonly [string, string])[]): Promise<void> {
    const bucket = await this.deps.buckets.load(this.name);
    await this.deps.objects.revise(asService(bucket, key, versionId), (objectAttributes) => ({
      ...objectAttributes,
      tags,
    }));
  }

  /** Purges deleted buckets. */
  async purge(): Promise<void> {
    const { objects, uploads } = this.deps;
    await new BucketPurge({ table: this.table, objects, uploads, clock: this.clock }).sweep();
  }

  /** The versions of each key, newest first. */
  async contents(): Promise<Map<string, readonly Version[]>> {
    const bucket = await this.deps.buckets.load(this.name);
    const { entries } = await this.deps.objects.scan(bucket, { prefix: '', limit: 10_000 });
    const found = new Map<string, readonly Version[]>();
    for (const { key, currentVersion } of entries) {
      found.set(key, await this.deps.objects.versions(bucket, key, currentVersion, 10_000));
    }
    return found;
  }

  /** The keys there are. */
  async keys(): Promise<readonly string[]> {
    return [...(await this.contents()).keys()];
  }

  /** How the service works at real days. */
  readonly options = { calendar: realDays, bounds: { keysPerPage: 4, pagesPerTurn: 2, enoughSlices: 8 } };
}
