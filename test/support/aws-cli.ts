import { join } from 'node:path';
import type { Endpoint } from './endpoint.ts';
import { isInstalled } from './programs.ts';
import { alice } from './server.ts';

export const awsInstalled = isInstalled('aws');
export const howToInstallAws = 'aws is not installed: pip install awscli, or apt-get install awscli';

/** What `aws` and boto3 need to know of a service; for the rest they have their default settings. */
export function awsEnvironment(endpoint: Endpoint): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: alice.accessKeyId,
    AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint.url,
    AWS_CA_BUNDLE: endpoint.authority.file,
    AWS_CONFIG_FILE: join(endpoint.folder, 'no-such-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(endpoint.folder, 'no-such-credentials'),
  };
}
