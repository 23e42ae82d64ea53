import { isFailure } from './failure.ts';
import type { S3Client } from './client.ts';
import { writeXml } from './xml.ts';
import { encryption } from '../../shared/documents/bucket-settings.ts';
import { bucketList, createBucketConfiguration, versioning } from '../../shared/documents/buckets.ts';
import { policyStatus } from '../../shared/documents/stubs.ts';

export interface Bucket {
  readonly name: string;
  readonly created: Date;
}

/** What a bucket holds as HeadBucket returns it: bytes and objects of all versions, and nothing besides. */
export interface BucketUse {
  readonly bytes: number;
  readonly objects: number;
}

export type Versioning = 'Enabled' | 'Suspended' | 'Off';

/** Returns the buckets of the caller's project. */
export async function listBuckets(client: S3Client): Promise<Bucket[]> {
  const buckets: Bucket[] = [];
  let token: string | undefined;
  do {
    const query = token === undefined ? {} : { 'continuation-token': token };
    const page = bucketList.content.read(await client.document({ method: 'GET', query }));
    buckets.push(...page.buckets.map(({ name, creationDate }) => ({ name, created: new Date(creationDate) })));
    token = page.continuationToken;
  } while (token !== undefined && token !== '');
  return buckets;
}

export async function headBucket(client: S3Client, bucket: string): Promise<BucketUse> {
  const { headers } = await client.send({ method: 'HEAD', bucket });
  return {
    bytes: Number(headers.get('x-rgw-bytes-used') ?? NaN),
    objects: Number(headers.get('x-rgw-object-count') ?? NaN),
  };
}

/**
 * Creates a bucket.
 * @param hasLock with object lock, and so with versioning
 * @throws S3Failure BucketAlreadyExists, InvalidBucketName, TooManyBuckets, …
 */
export async function createBucket(client: S3Client, bucket: string, region: string, hasLock = false): Promise<void> {
  const body = writeXml(createBucketConfiguration, { locationConstraint: region });
  const headers = hasLock ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {};
  await client.send({ method: 'PUT', bucket, headers, ...(region !== '' && { body }) });
}

export async function deleteBucket(client: S3Client, bucket: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket });
}

export async function getVersioning(client: S3Client, bucket: string): Promise<Versioning> {
  const xml = await client.document({ method: 'GET', bucket, query: { versioning: '' } });
  return versioning.content.read(xml) ?? 'Off';
}

export async function putVersioning(client: S3Client, bucket: string, status: 'Enabled' | 'Suspended'): Promise<void> {
  const body = writeXml(versioning, status);
  await client.send({ method: 'PUT', bucket, query: { versioning: '' }, body });
}

/** Turns the default encryption of new objects on or off. */
export async function putEncryption(client: S3Client, bucket: string, on: boolean): Promise<void> {
  const query = { encryption: '' };
  if (!on) return void (await client.send({ method: 'DELETE', bucket, query }));
  await client.send({ method: 'PUT', bucket, query, body: writeXml(encryption, { algorithm: 'AES256' }) });
}

export async function getEncryption(client: S3Client, bucket: string): Promise<boolean> {
  return (await optionally(client.document({ method: 'GET', bucket, query: { encryption: '' } }))) !== undefined;
}

/** Returns whether the bucket's policy grants access to everybody. */
export async function isPolicyPublic(client: S3Client, bucket: string): Promise<boolean> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: { policyStatus: '' } }));
  return xml !== undefined && policyStatus.content.read(xml);
}

/** Awaits an optional setting. Returns undefined if it was never set, or if the service does not support it. */
export async function optionally<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isFailure(error) && (error.status === 404 || error.status === 501) && error.code !== 'NoSuchBucket')
      return undefined;
    throw error;
  }
}
