import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { account, bucketQuota } from '../../shared/documents/account.ts';
import type { ValueOf } from '../../shared/documents/schema.ts';

/** The caller's account: `GET /?account`. */
export type Account = ValueOf<typeof account>;

/** The limits and the usage of a bucket: `GET /<bucket>?quota`. */
export type Quota = ValueOf<typeof bucketQuota>;

export async function getAccount(client: S3Client): Promise<Account | undefined> {
  const xml = await client.document({ method: 'GET', query: { account: '' } });
  // An S3 service that does not know the request lists the buckets.
  return xml.name === account.root ? account.content.read(xml) : undefined;
}

export async function getQuota(client: S3Client, bucket: string): Promise<Quota | undefined> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: { quota: '' } }));
  return xml?.name === bucketQuota.root ? bucketQuota.content.read(xml) : undefined;
}
