import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aws, awsEnvironment, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { boto3Installed, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { run, skip } from '../support/programs/programs.ts';

describe('temporary keys', () => {
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint('https');
  });
  afterAll(() => endpoint.stop());

  it('are made and used by boto3', async (context) => {
    if (!boto3Installed) skip(context, howToInstallBoto3);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const script = join(import.meta.dirname, 'sts_session.py');
    const { stdout } = await run('python3', [script, await endpoint.newBucket()], { env });
    const user = expect.stringMatching(/^arn:aws:iam::\d{12}:root$/) as string;
    expect(JSON.parse(stdout)).toEqual({
      mine: user,
      its: user,
      presigned: 'content',
      'token in URL': true,
      'token in form': true,
      again: ['AccessDenied', 403],
      'too long': ['ValidationError', 400],
    });
  });

  it('are made and used by the AWS CLI', async (context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const identity = ['sts', 'get-caller-identity', '--query', 'Arn'];
    const { stdout: mine } = await aws(identity, { env });
    const { stdout } = await aws(['sts', 'get-session-token'], { env });
    const { Credentials: made } = JSON.parse(stdout) as { readonly Credentials: Readonly<Record<string, string>> };
    const temporary = {
      ...env,
      AWS_ACCESS_KEY_ID: made['AccessKeyId']!,
      AWS_SECRET_ACCESS_KEY: made['SecretAccessKey']!,
      AWS_SESSION_TOKEN: made['SessionToken']!,
    };
    expect((await aws(identity, { env: temporary })).stdout).toBe(mine);
    const bucket = await endpoint.newBucket();
    const { stdout: heads } = await aws(['s3api', 'head-bucket', '--bucket', bucket], { env: temporary });
    expect(heads).toContain('us-east-1');
  });
});
