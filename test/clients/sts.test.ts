import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aws, awsEnvironment, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { allowing } from '../support/clients/iam.ts';
import { boto3Installed, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { isInstalled, run, skip } from '../support/programs/programs.ts';

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

  it('of somebody else are used by restic, which is written in Go, within their policy', async (context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
    if (!isInstalled('restic', ['version'])) skip(context, 'restic is not installed: apt-get install restic');
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const [bucket, other] = [await endpoint.newBucket(), await endpoint.newBucket()];
    const policy = allowing('s3:*', [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`]);
    const { stdout } = await aws(['sts', 'get-federation-token', '--name', 'backups', '--policy', policy], { env });
    const { Credentials: made } = JSON.parse(stdout) as { readonly Credentials: Readonly<Record<string, string>> };
    const temporary = {
      AWS_ACCESS_KEY_ID: made['AccessKeyId']!,
      AWS_SECRET_ACCESS_KEY: made['SecretAccessKey']!,
      AWS_SESSION_TOKEN: made['SessionToken']!,
    };
    const restic = (...args: string[]) =>
      run(
        'restic',
        [
          ...['-r', `s3:${endpoint.url}/${bucket}/repository`, '--cacert', endpoint.authority.file],
          ...['-o', 's3.bucket-lookup=path', ...args],
        ],
        {
          env: {
            ...{ ...endpoint.proxy.env, ...temporary, RESTIC_PASSWORD: 'a password' },
            RESTIC_CACHE_DIR: join(endpoint.folder, 'cache'),
          },
        },
      );
    await restic('init');
    await restic('backup', import.meta.dirname);
    expect((await restic('check', '--read-data')).stdout).toContain('no errors were found');
    const head = await aws(['s3api', 'head-bucket', '--bucket', other], {
      env: { ...env, ...temporary },
      codes: [254, 255],
    });
    expect(head.stderr).toContain('(403)');
  });
});
