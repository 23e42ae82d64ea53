import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aws, awsEnvironment, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { boto3Installed, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { run, skip } from '../support/programs/programs.ts';

describe('users, groups and policies', () => {
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint('https');
  });
  afterAll(() => endpoint.stop());

  it('are administered by boto3 in the order of Terraform', async (context) => {
    if (!boto3Installed) skip(context, howToInstallBoto3);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const { stdout } = await run('python3', [join(import.meta.dirname, 'iam_calls.py')], { env });
    expect(JSON.parse(stdout)).toEqual({
      'user reads back': true,
      tags: [{ Key: 'team', Value: 'b' }],
      'inline reads back': true,
      versions: ['v1'],
      'policy reads back': true,
      attached: [true],
      groups: [true],
      itself: true,
      'may not': ['AccessDenied', 403],
      inactive: ['InvalidClientTokenId', 403],
      conflict: ['DeleteConflict', 409],
      Groups: 1,
      PolicyNames: 1,
      AttachedPolicies: 1,
      AccessKeyMetadata: 1,
      SSHPublicKeys: 0,
      MFADevices: 0,
      Certificates: 0,
      ServiceSpecificCredentials: 0,
      VirtualMFADevices: 0,
      login: ['NoSuchEntity', 404],
      gone: [
        ['NoSuchEntity', 404],
        ['NoSuchEntity', 404],
      ],
      paginated: 4,
    });
  });

  it('are administered by the AWS CLI', async (context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
    const env = { ...endpoint.proxy.env, ...awsEnvironment(endpoint) };
    const { stdout: root } = await aws(['iam', 'get-user', '--query', 'User.Arn'], { env });
    expect(root).toMatch(/^"?arn:aws:iam::\d{12}:root"?\s*$/);
    await aws(['iam', 'create-user', '--user-name', 'by-cli@example.com'], { env });
    const { stdout } = await aws(['iam', 'list-users', '--query', 'Users[].UserName'], { env });
    expect(stdout).toContain('by-cli@example.com');
  });
});
