import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aws, awsEnvironment, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { boto3Installed, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { run, skip } from '../support/programs/programs.ts';

describe('the log of who changed what', () => {
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint('https');
  });
  afterAll(() => endpoint.stop());

  it('is read by boto3', async (context) => {
    if (!boto3Installed) skip(context, howToInstallBoto3);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const bucket = await endpoint.newBucket();
    const { stdout } = await run('python3', [join(import.meta.dirname, 'cloudtrail_lookups.py'), bucket], { env });
    expect(JSON.parse(stdout)).toEqual({
      names: ['DeleteBucketTagging', 'PutBucketTagging', 'CreateBucket'],
      time: true,
      resources: [{ ResourceType: 'AWS::S3::Bucket', ResourceName: bucket }],
      record: 'DeleteBucketTagging',
      by: 'root',
      before: 0,
      range: ['InvalidTimeRangeException', 400],
      attribute: ['InvalidLookupAttributesException', 400],
      token: ['InvalidNextTokenException', 400],
      results: ['InvalidMaxResultsException', 400],
    });
  });

  it('is read by the AWS CLI', async (context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const bucket = await endpoint.newBucket();
    const attribute = `AttributeKey=ResourceName,AttributeValue=${bucket}`;
    const lookup = ['cloudtrail', 'lookup-events', '--lookup-attributes', attribute];
    await expect
      .poll(async () => (await aws([...lookup, '--query', 'Events[].EventName', '--output', 'text'], { env })).stdout)
      .toContain('CreateBucket');
  });
});
