import type { S3Client } from '../../s3/client.ts';
import { everyObject, type Entry } from '../../s3/listing.ts';
import { FoundEntries } from './found-entries.ts';

/** Searches all names of a bucket for a text. */
export class SearchModel extends FoundEntries<Entry> {
  readonly kind = 'search';
  readonly text: string;

  constructor(client: S3Client, bucket: string, text: string) {
    const wanted = text.toLowerCase();
    super(
      (signal) => everyObject(client, bucket, '', signal),
      (entry) => (entry.key.toLowerCase().includes(wanted) ? entry : undefined),
    );
    this.text = text;
  }
}
