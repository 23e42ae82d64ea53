import type { S3Client } from '../../s3/client.ts';
import { everyVersion, type Entry, type Version } from '../../s3/listing.ts';
import { FoundEntries } from './found-entries.ts';

/** Returns whether an entry is a deleted object, which can be restored. */
export const isDeleted = (entry: Entry): boolean => entry.kind === 'object' && entry.markers !== undefined;

/** Returns whether entries of one list are deleted objects, by the first: a list has either these or others, and may be very long. */
export const areDeleted = ([first]: readonly Entry[]): boolean => first !== undefined && isDeleted(first);

/** Lists the deleted objects of a folder and its subfolders: those whose latest version is a delete marker. */
export class DeletedModel extends FoundEntries<Version> {
  readonly kind = 'deleted';

  constructor(client: S3Client, bucket: string, prefix: string) {
    const hidden = new Hidden();
    super(
      (signal) => everyVersion(client, bucket, prefix, signal),
      (version) => hidden.next(version),
    );
  }
}

/** Finds deleted objects in a listing of versions, in which the newest version of a key comes first. */
class Hidden {
  private key = '';
  private deleted = 0;
  private markers: string[] = [];

  /** Returns the object that removing the delete markers would restore, if this is its version. */
  next({ key, versionId, isLatest, isMarker, modified, size, etag }: Version): Entry | undefined {
    if (isLatest) {
      this.key = isMarker ? key : '';
      this.deleted = modified;
      this.markers = [];
    }
    if (key !== this.key) return undefined;
    if (isMarker) {
      this.markers.push(versionId);
      return undefined;
    }
    this.key = '';
    return { kind: 'object', key, size, etag, modified: this.deleted, markers: this.markers };
  }
}
