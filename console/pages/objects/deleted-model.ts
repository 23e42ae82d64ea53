import { signal } from '@preact/signals';
import type { FoundModel } from './listing-model.ts';
import type { S3Client } from '../../s3/client.ts';
import { isFailure } from '../../s3/failure.ts';
import { everyVersion, type Entry, type Version } from '../../s3/listing.ts';

/** Returns whether an entry is a deleted object, which can be restored. */
export const isDeleted = (entry: Entry): boolean => entry.kind === 'object' && entry.markers !== undefined;

/** Lists the deleted objects of a folder and its subfolders: those whose latest version is a delete marker. */
export class DeletedModel implements FoundModel {
  readonly order = this;
  readonly kind = 'deleted';
  readonly hits = signal<readonly Entry[]>([]);
  readonly looked = signal(0);
  readonly isComplete = signal(false);
  readonly error = signal<unknown>(undefined);
  private readonly stopping = new AbortController();

  constructor(client: S3Client, bucket: string, prefix: string) {
    void this.run(client, bucket, prefix);
  }

  at(index: number): Entry | undefined {
    return this.hits.value[index];
  }

  between(from: number, to: number): readonly Entry[] {
    return this.hits.value.slice(from, to + 1);
  }

  all(): readonly Entry[] {
    return this.hits.value;
  }

  stop(): void {
    this.stopping.abort();
    this.isComplete.value = true;
  }

  private async run(client: S3Client, bucket: string, prefix: string): Promise<void> {
    const hidden = new Hidden();
    try {
      for await (const page of everyVersion(client, bucket, prefix, this.stopping.signal)) {
        const found = page.flatMap((version) => hidden.next(version));
        if (found.length > 0) this.hits.value = [...this.hits.value, ...found];
        this.looked.value += page.length;
      }
    } catch (error) {
      if (!isFailure(error, 'Aborted')) this.error.value = error;
    }
    this.isComplete.value = true;
  }
}

/** Finds deleted objects in a listing of versions, in which the newest version of a key comes first. */
class Hidden {
  private key = '';
  private deleted = 0;
  private markers: string[] = [];

  /** Returns the object that removing the delete markers would restore, if this is its version. */
  next({ key, versionId, isLatest, isMarker, modified, size, etag }: Version): readonly Entry[] {
    if (isLatest) {
      this.key = isMarker ? key : '';
      this.deleted = modified;
      this.markers = [];
    }
    if (key !== this.key) return [];
    if (isMarker) {
      this.markers.push(versionId);
      return [];
    }
    this.key = '';
    return [{ kind: 'object', key, size, etag, modified: this.deleted, markers: this.markers }];
  }
}
