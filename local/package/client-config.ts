import type { InitialKey } from '../../shared/command-line/start-options.ts';

/** The configuration of an S3 client of the AWS SDK: `new S3Client(stillage.clientConfig)`. */
export interface ClientConfig {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: InitialKey;
  /** Buckets are addressed by path, since `<bucket>.127.0.0.1` is no name. */
  readonly forcePathStyle: true;
}

/** Returns the variables that AWS's programs and SDKs read. */
export function awsEnvironment({ endpoint, region, credentials }: ClientConfig): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
  };
}
