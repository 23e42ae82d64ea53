import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml, type Tree } from './xml.ts';

export interface Tag {
  readonly key: string;
  readonly value: string;
}

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
export async function getTags(client: S3Client, tagged: Tagged): Promise<Tag[]> {
  const asked = client.document({ method: 'GET', ...addressOf(tagged) });
  const xml = await (tagged.key === undefined ? optionally(asked) : asked);
  const set = xml?.find('TagSet')?.all('Tag') ?? [];
  return set.map((tag) => ({ key: tag.textOf('Key'), value: tag.textOf('Value') }));
}

/** Replaces the tags of an object or a bucket. @throws S3Failure InvalidTag */
export async function putTags(client: S3Client, tagged: Tagged, tags: readonly Tag[]): Promise<void> {
  const address = addressOf(tagged);
  if (tags.length === 0) return void (await client.send({ method: 'DELETE', ...address }));
  const set = tags.map((tag): Tree => [
    'Tag',
    [
      ['Key', tag.key],
      ['Value', tag.value],
    ],
  ]);
  await client.send({ method: 'PUT', ...address, body: writeXml(['Tagging', [['TagSet', set]]]) });
}
