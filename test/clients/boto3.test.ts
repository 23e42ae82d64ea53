import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awsEnvironment } from '../support/aws-cli.ts';
import { bucketName } from '../support/clients.ts';
import { long } from '../support/contents.ts';
import { someWays, startEndpoint, type Endpoint } from '../support/endpoint.ts';
import { isInstalled, run, skip } from '../support/programs.ts';

const installed = isInstalled('python3', ['-c', 'import boto3']);

/** The steps of boto3_session.py. */
const steps = [
  'create_bucket',
  'put_bytes',
  'put_stream',
  'put_empty',
  'get_ranges',
  'head',
  'list_objects',
  'conditions',
  'checksums',
  'presigned_default',
  'presigned_v4',
  'headers_v2',
  'transfer',
  'copy',
  'delete',
];

describe.each(someWays)('boto3 over $scheme, buckets in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;
  let outcomes: Record<string, string>;

  beforeAll(async () => {
    if (!installed) return;
    endpoint = await startEndpoint(scheme);
    const script = [join(import.meta.dirname, 'boto3_session.py'), bucketName('boto3'), long ? '100' : '17', style];
    const inHost = { ...endpoint.proxy.env, AWS_ENDPOINT_URL: endpoint.hostStyleUrl };
    const env = { ...awsEnvironment(endpoint), ...(style === 'host name' ? inHost : {}) };
    outcomes = JSON.parse((await run('python3', script, { env })).stdout) as Record<string, string>;
  }, 180_000);
  afterAll(() => endpoint?.stop());
  beforeEach((context) => {
    if (!installed) skip(context, 'boto3 is not installed: pip install boto3, or apt-get install python3-boto3');
  });

  it.each(steps)('%s', (step) => {
    expect(outcomes[step]).toBe('ok');
  });
});
