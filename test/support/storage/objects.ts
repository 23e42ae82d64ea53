import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type PutObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';

/** Returns the entity tag of an object that was uploaded in one piece. */
export function md5Tag(content: string | Uint8Array): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

export async function put(
  client: S3Client,
  bucket: string,
  key: string,
  body: string | Uint8Array = '',
  more: Partial<PutObjectCommandInput> = {},
): Promise<PutObjectCommandOutput> {
  // The SDK takes an empty string for a stream of unknown length.
  return client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: Buffer.from(body), ...more }));
}

/** The content of an object, or of a version of it, as text. */
export async function read(client: S3Client, bucket: string, key: string, versionId?: string): Promise<string> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId }));
  return Body!.transformToString();
}

export async function setVersioning(client: S3Client, bucket: string, status: 'Enabled' | 'Suspended'): Promise<void> {
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: status } }));
}

/** Puts an empty object under each key. */
export async function putAll(client: S3Client, bucket: string, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => put(client, bucket, key)));
}

/** A row of a listing of versions. */
export interface ListedVersion {
  readonly key: string;
  readonly id: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
}

/** All versions and markers of a bucket. Those of a key stand together, versions and markers apart. */
export async function versionsOf(client: S3Client, bucket: string): Promise<ListedVersion[]> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }));
  const row =
    (isMarker: boolean) =>
    (one: { Key?: string | undefined; VersionId?: string | undefined; IsLatest?: boolean | undefined }) => ({
      key: one.Key!,
      id: one.VersionId!,
      isLatest: one.IsLatest!,
      isMarker,
    });
  return [...Versions.map(row(false)), ...DeleteMarkers.map(row(true))];
}
