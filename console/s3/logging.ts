import type { S3Client, S3Request } from './client.ts';
import { writeXml } from './xml.ts';
import { logging, type WrittenLogging } from '../../shared/documents/logging.ts';

const query = { logging: '' };

/** Returns where the access log of a bucket is delivered; undefined: nowhere. */
export async function getLogging(client: S3Client, bucket: string): Promise<WrittenLogging | undefined> {
  return logging.content.read(await client.document({ method: 'GET', bucket, query })).enabled;
}

/** Returns the request that sets where the access log of a bucket is delivered; undefined: nowhere. */
export function loggingRequest(bucket: string, enabled: WrittenLogging | undefined): S3Request {
  return { method: 'PUT', bucket, query, body: writeXml(logging, enabled === undefined ? {} : { enabled }) };
}

/** Sets where the access log of a bucket is delivered; undefined: nowhere. @throws S3Failure InvalidTargetBucketForLogging */
export async function putLogging(client: S3Client, bucket: string, enabled: WrittenLogging | undefined): Promise<void> {
  await client.send(loggingRequest(bucket, enabled));
}
