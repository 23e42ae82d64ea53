import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml } from './xml.ts';
import { tagging, type Tag } from '../../shared/documents/tagging.ts';

/** A bucket, an object or a version. */
export interface Tagged {
  readonly bucket: string;
  readonly key?: string | undefined;
  readonly versionId?: string | undefined;
}

const addressOf = ({ bucket, key, versionId }: Tagged) => ({
  bucket,
  ...(key !== undefined && { key }),
  query: { tagging: '', versionId },
});

/** Returns the tags of an object, or of a bucket, which may have none: NoSuchTagSet. */
export async function getTags(client: S3Client, tagged: Tagged): Promise<readonly Tag[]> {
  const asked = client.document({ method: 'GET', ...addressOf(tagged) });
  const xml = await (tagged.key === undefined ? optionally(asked) : asked);
  return xml ? tagging.content.read(xml) : [];
}

/** Replaces the tags of an object or a bucket. @throws S3Failure InvalidTag */
export async function putTags(client: S3Client, tagged: Tagged, tags: readonly Tag[]): Promise<void> {
  const address = addressOf(tagged);
  if (tags.length === 0) return void (await client.send({ method: 'DELETE', ...address }));
  await client.send({ method: 'PUT', ...address, body: writeXml(tagging, tags) });
}
