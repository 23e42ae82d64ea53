import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml } from './xml.ts';
import { cors, type CorsRule } from '../../shared/documents/cors.ts';

const query = { cors: '' };

/** Returns the CORS rules of a bucket in their order, which decides. */
export async function getCors(client: S3Client, bucket: string): Promise<readonly CorsRule[]> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query }));
  return xml ? cors.content.read(xml) : [];
}

/** Replaces the CORS rules of a bucket; an empty list removes them. */
export async function putCors(client: S3Client, bucket: string, rules: readonly CorsRule[]): Promise<void> {
  if (rules.length === 0) return void (await client.send({ method: 'DELETE', bucket, query }));
  await client.send({ method: 'PUT', bucket, query, body: writeXml(cors, rules) });
}
