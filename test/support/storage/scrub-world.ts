import { asService, byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { BucketPurge } from '../../../shared/storage/removal/bucket-purge.ts';
import { Manifests } from '../../../shared/storage/objects/manifests.ts';
import type { NewVersion } from '../../../shared/storage/version-changes/new-version.ts';
import { Objects } from '../../../shared/storage/objects/objects.ts';
import { finishEndedUploads, ReleaseQueue } from '../../../shared/storage/removal/release-queue.ts';
import { Release } from '../../../shared/storage/removal/release.ts';
import type { Finding, ScrubReport } from '../../../shared/scrub/findings.ts';
import { scrub } from '../../../shared/scrub/scrub.ts';
import { Slice } from '../../../shared/scrub/slice.ts';
import { ContentReferences } from '../../../shared/storage/objects/content-references.ts';
import { versionOf, type CompletedUpload } from '../../../shared/storage/uploads/upload.ts';
import { Uploads } from '../../../shared/storage/uploads/uploads.ts';
import { UsageFollower } from '../../../shared/billing/usage-follower.ts';
import { noObjectAttributes, type ObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import type { CurrentVersion } from '../../../shared/storage/versions/versions.ts';
import type { Attributes, ItemKey } from '../../../shared/ports/key-value-table.ts';
import { MemoryBlobs } from '../../model/memory-blobs.ts';
import { CountedBytes, SetClock } from './fixed-deps.ts';
import { MemoryTable } from './memory-table.ts';

const hour = 3_600_000;
export const week = 7 * 24 * hour;

/** The repositories over a table and blobs in memory, with everything that follows the feed, and a scrub of them. */
export class ScrubWorld {
  readonly table = new MemoryTable();
  readonly kept = new MemoryBlobs();
  readonly clock = new SetClock();
  readonly randomness = new CountedBytes();
  readonly blobs = this.kept.of('writer', () => this.clock.time);
  readonly deps = { table: this.table, clock: this.clock, randomness: this.randomness, blobs: this.blobs };
  readonly buckets = new Buckets(this.deps);
  readonly manifests = new Manifests(this.deps);
  readonly objects = new Objects({ ...this.deps, buckets: this.buckets, recorder: undefined });
  readonly contentReferences = new ContentReferences(this.deps);
  readonly uploads = new Uploads({ ...this.deps, buckets: new Buckets(this.deps), manifests: this.manifests });
  readonly usage = new UsageFollower(this.deps);
  readonly released = new ReleaseQueue({ ...this.deps, uploads: this.uploads, grace: hour });
  readonly release = new Release({ ...this.deps, manifests: this.manifests, uploads: this.uploads });
  readonly bucketPurge = new BucketPurge({ ...this.deps, objects: this.objects, uploads: this.uploads });
  #followed = 0;
  #drained: Promise<void> = Promise.resolve();

  /** Delivers the feed. Sequentially, as in the service: counters skip records that arrive late. */
  drain(): Promise<void> {
    return (this.#drained = this.#drained.then(() => this.#follow()));
  }

  async #follow(): Promise<void> {
    while (this.#followed < this.table.feed.length) {
      const records = this.table.feed.slice(this.#followed);
      this.#followed = this.table.feed.length;
      await this.usage.follow(records);
      await this.released.follow(records);
      await finishEndedUploads(this.uploads, records);
    }
  }

  /** Lets time pass, and runs the work that is due. */
  async pass(time: number): Promise<void> {
    await this.drain();
    this.clock.time += time;
    await this.release.sweep();
    await this.bucketPurge.sweep();
    await this.drain();
  }

  async bucket(name: string): Promise<Bucket> {
    this.clock.time += 1;
    await this.buckets.create(byOperator, name, 'project', 100);
    return this.buckets.load(name);
  }

  async blob(bucket: Bucket, key: string, text: string): Promise<string> {
    return (await this.blobs.write(chunks(text), { bucketId: bucket.id, key })).ref;
  }

  async fresh(bucket: Bucket, key: string, text: string, objectAttributes = noObjectAttributes): Promise<NewVersion> {
    const content = text === '' ? undefined : ({ kind: 'blob', ref: await this.blob(bucket, key, text) } as const);
    return { ...version, size: text.length, content, objectAttributes };
  }

  /** Stores a text under a key. */
  async put(bucket: Bucket, key: string, text: string, objectAttributes?: ObjectAttributes): Promise<CurrentVersion> {
    this.clock.time += 1;
    const current = await this.buckets.load(bucket.name);
    return this.objects.put(asService(current, key), await this.fresh(current, key, text, objectAttributes));
  }

  /** A copy that moves no bytes. */
  async copy(bucket: Bucket, from: string, to: string): Promise<CurrentVersion | undefined> {
    this.clock.time += 1;
    const current = await this.buckets.load(bucket.name);
    const source = await this.objects.find(current, from);
    if (source === undefined || source.marker) return undefined;
    const extras = this.contentReferences.from({ bucketId: current.id, key: from, version: source });
    const { size, content } = source;
    return this.objects.put(asService(current, to), { ...version, size, content }, { extras });
  }

  /** Begins an upload and stores its parts. */
  async begin(bucket: Bucket, key: string, parts: readonly string[]): Promise<string> {
    this.clock.time += 1;
    const { owner, contentType, encryption } = version;
    const fresh = { owner, contentType, encryption, initiator: 'project', objectAttributes: noObjectAttributes };
    const id = await this.uploads.create(asService(bucket, key), { ...fresh, checksum: undefined });
    const upload = await this.uploads.findOpen(bucket, key, id);
    for (const [at, text] of parts.entries()) {
      const blob = await this.blob(bucket, key, text);
      const part = { number: at + 1, blob, size: text.length, md5: new Uint8Array(16), checksum: undefined };
      await this.uploads.addPart(asService(bucket, key), upload, part);
    }
    return id;
  }

  /** Makes an object of an upload. */
  async complete(bucket: Bucket, key: string, id: string): Promise<CurrentVersion> {
    this.clock.time += 1;
    const current = await this.buckets.load(bucket.name);
    const upload = await this.uploads.findOpen(current, key, id);
    const { parts } = await this.uploads.latestParts(id, 0, 10_000);
    const manifest = await this.manifests.create(
      parts.map(({ blob, size }) => ({ blob: blob ?? '', size, checksum: undefined })),
    );
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    const result: CompletedUpload = {
      md5: new Uint8Array(16),
      partCount: parts.length,
      versionId: 'null',
      checksum: undefined,
    };
    return this.objects.put(asService(current, key), versionOf(upload, size, result, manifest), {
      extras: (_, __, now) => this.uploads.completion(now, upload, manifest, result),
    });
  }

  /** Changes an item as no repository would, without a record in the feed. */
  async force(key: ItemKey, change: (item: Attributes) => Attributes | undefined): Promise<void> {
    await this.drain();
    const put = change((await this.table.get(key)) ?? {});
    await this.table.write([put === undefined ? { key, delete: true } : { key, put }]);
    this.#followed = this.table.feed.length;
  }

  async scrub(
    options: { repair?: boolean; content?: boolean; minAge?: number; drained?: boolean; slice?: Slice } = {},
  ): Promise<{ findings: readonly Finding[]; report: ScrubReport }> {
    const { repair = false, content = false, minAge = 0, drained = true, slice = Slice.whole } = options;
    this.clock.time += 1;
    const findings: Finding[] = [];
    const { manifests, uploads, release, bucketPurge } = this;
    const report = await scrub(
      { ...this.deps, manifests, uploads, release, bucketPurge, ...(drained && { drain: () => this.drain() }) },
      { repair, content, minAge, slice, filterBytes: 65_536, onFinding: (finding) => findings.push(finding) },
    );
    return { findings, report };
  }

  /** Scrubs slice by slice, without repairs, and adds up the results. */
  async scrubInSlices(of: number): Promise<{ findings: readonly Finding[]; items: number; blobs: number }> {
    const sum = { findings: [] as Finding[], items: 0, blobs: 0 };
    for (let index = 1; index <= of; index += 1) {
      const { findings, report } = await this.scrub({ slice: new Slice(index, of) });
      sum.findings.push(...findings);
      sum.items += report.items;
      sum.blobs += report.blobs;
    }
    return sum;
  }
}

const version: Omit<NewVersion, 'size' | 'content'> = {
  marker: false,
  md5: new Uint8Array(16),
  owner: 'project',
  contentType: undefined,
  checksum: undefined,
  encryption: undefined,
  objectAttributes: noObjectAttributes,
};

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
