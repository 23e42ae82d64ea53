import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aws, awsEnvironment, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { trusting } from '../support/clients/iam.ts';
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
      'user changed': [true, true, false],
      'inline reads back': true,
      "policy's fields": true,
      "policy's tags": [{ Key: 'team', Value: 'a' }],
      'changed to': 'v2',
      'new version reads back': true,
      versions: ['v1'],
      'policy reads back': true,
      attached: [true],
      'group reads back': true,
      'group changed': true,
      "group's policy reads back": true,
      "group's attached": [true],
      groups: [true],
      'role reads back': true,
      "role's policy reads back": true,
      entities: [true],
      boundary: true,
      assumed: true,
      'role may not': ['AccessDenied', 403],
      "role's conflict": ['DeleteConflict', 409],
      "role's own": [1, 1, 0],
      'role is gone': [
        ['NoSuchEntity', 404],
        ['InvalidToken', 400],
      ],
      'provider reads back': true,
      'provider changed': [['two', 'three'], true, [{ Key: 'team', Value: 'b' }]],
      'provider is gone': ['NoSuchEntity', 404],
      itself: true,
      'may not': ['AccessDenied', 403],
      inactive: ['InvalidClientTokenId', 403],
      status: ['Inactive'],
      "key's user": true,
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
    const AWS = root.replaceAll(/["\s]/g, '');
    const trust = ['--assume-role-policy-document', trusting({ AWS })];
    const query = ['--query', 'Role.Arn', '--output', 'text'];
    const role = await aws(['iam', 'create-role', '--role-name', 'by-cli', ...trust, ...query], { env });
    const assume = ['sts', 'assume-role', '--role-session-name', 'ci', '--role-arn', role.stdout.trim()];
    const { stdout: assumed } = await aws([...assume, '--query', 'AssumedRoleUser.Arn'], { env });
    expect(assumed).toMatch(/arn:aws:sts::\d{12}:assumed-role\/by-cli\/ci/);
    // As profiles have it.
    const config = join(endpoint.folder, 'config');
    await writeFile(config, `[profile deploy]\nrole_arn = ${role.stdout.trim()}\ncredential_source = Environment\n`);
    const { stdout: identity } = await aws(['--profile', 'deploy', 'sts', 'get-caller-identity', '--query', 'Arn'], {
      env: { ...env, AWS_CONFIG_FILE: config },
    });
    expect(identity).toContain(':assumed-role/by-cli/');
  });
});
