import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';

/** The caller's account: `GET /?account`. */
export interface Account {
  readonly projectId: string;
  readonly projectEmail: string;
  readonly projectName: string;
  readonly user: string;
  readonly accessKeyId: string;
  readonly bucketCount: number;
  readonly bucketLimit: number;
}

/** The limits and the usage of a bucket: `GET /<bucket>?quota`. */
export interface Quota {
  readonly bytesLimit: number;
  readonly objectsLimit: number;
  readonly bytes: number;
  readonly objects: number;
}

export async function getAccount(client: S3Client): Promise<Account | undefined> {
  const xml = await client.document({ method: 'GET', query: { account: '' } });
  const project = xml.find('Project');
  // An S3 service that does not know the request lists the buckets.
  if (xml.name !== 'Account' || project === undefined) return undefined;
  return {
    projectId: project.textOf('Id'),
    projectEmail: project.textOf('Email'),
    projectName: project.textOf('DisplayName'),
    user: xml.textOf('User'),
    accessKeyId: xml.textOf('AccessKeyId'),
    bucketCount: Number(xml.textOf('BucketCount')),
    bucketLimit: Number(xml.textOf('BucketLimit')),
  };
}

export async function getQuota(client: S3Client, bucket: string): Promise<Quota | undefined> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: { quota: '' } }));
  if (xml?.name !== 'BucketQuota') return undefined;
  const number = (name: string): number => Number(xml.textOf(name));
  return {
    bytesLimit: number('BytesLimit'),
    objectsLimit: number('ObjectsLimit'),
    bytes: number('Bytes'),
    objects: number('Objects'),
  };
}
