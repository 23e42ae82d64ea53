import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { alice, type Service } from '../programs/server.ts';

interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The AWS SDK with its default settings, pointed at a service. Path style, since buckets of 127.0.0.1 have no host names. */
export function sdk(service: Pick<Service, 'url'>, key: Key = alice, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: service.url,
    region: 'us-east-1',
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
    forcePathStyle: true,
    ...config,
  });
}

let count = 0;

/** A bucket name that no other test has. */
export function bucketName(hint = 'bucket'): string {
  count += 1;
  return `${hint}-${process.pid}-${Date.now().toString(36)}-${count}`;
}
