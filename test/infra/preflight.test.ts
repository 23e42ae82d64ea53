import { afterEach, describe, expect, it } from 'vitest';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { run } from '../support/programs/programs.ts';
import { AwsControlPlane, type StandInAccount } from './aws-control-plane.ts';
import { withDomain } from './synthesis.ts';

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly do?: string;
}

const { domain, websiteDomain, certificate, hostedZone } = withDomain;
const ready: StandInAccount = {
  id: '000000000000',
  roles: [
    'AWSServiceRoleForECS',
    'AWSServiceRoleForApplicationAutoScaling_ECSService',
    'AWSServiceRoleForElasticLoadBalancing',
  ],
  quotas: { 'lambda/L-B99A9384': 1000 },
  usualQuotas: { 'fargate/L-3032A538': 6, 'lambda/L-B99A9384': 1000 },
  bootstrapVersion: 28,
  zoneIds: ['use1-az1', 'use1-az2', 'use1-az3', 'use1-az4'],
  certificates: { [certificate]: { status: 'ISSUED', names: [domain, `*.${domain}`, `*.${websiteDomain}`] } },
  hostedZones: { [hostedZone]: 'example.com' },
  denied: [],
};

let plane: AwsControlPlane | undefined;
afterEach(() => plane?.stop());

const preflight = async (account: Partial<StandInAccount>, ...args: string[]) => {
  await plane?.stop();
  plane = await AwsControlPlane.start({ ...ready, ...account });
  const { stdout, stderr, code } = await run(
    process.execPath,
    ['--import', 'tsx', 'infra/preflight/program.ts', ...args],
    {
      codes: [0, 1, 2],
      cwd: root,
      env: {
        AWS_ENDPOINT_URL: plane.endpoint,
        AWS_ACCESS_KEY_ID: 'x',
        AWS_SECRET_ACCESS_KEY: '-',
        AWS_MAX_ATTEMPTS: '1',
        NODE_NO_WARNINGS: '1',
      },
    },
  );
  return { stdout, stderr, code };
};

const named = Object.entries(withDomain).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Returns the findings other than `ok`, by check. */
const amiss = (stdout: string): Record<string, Finding> => {
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map((one) => [one.check, one]));
};

describe('the preflight', () => {
  it('finds nothing missing in an account that is ready, and changes nothing there', async () => {
    const { stdout, code } = await preflight({}, '--json', ...named);
    expect({ code, amiss: amiss(stdout) }).toEqual({ code: 0, amiss: {} });
    expect(plane!.calls.every((call) => /^(Get|Describe)/.test(call))).toBe(true);
    expect(plane!.calls.length).toBeGreaterThan(8);
  });

  it('tells a clean account all that it lacks, and what to do about each', async () => {
    const clean = {
      roles: [],
      quotas: { 'lambda/L-B99A9384': 10 },
      usualQuotas: { 'fargate/L-3032A538': 2, 'lambda/L-B99A9384': 1000 },
      bootstrapVersion: undefined,
      zoneIds: ['use1-az3', 'use1-az4', 'use1-az6'],
      certificates: {},
      hostedZones: {},
    };
    const { stdout, code } = await preflight(clean, '--json', ...named);
    const found = amiss(stdout);
    expect(code).toBe(1);
    expect(
      Object.fromEntries(Object.values(found).map((one) => [one.check, one.do?.split(' ').slice(0, 3).join(' ')])),
    ).toEqual({
      'CDK bootstrap': 'npx cdk bootstrap',
      'Lambda concurrency': 'aws service-quotas request-service-quota-increase',
      'role AWSServiceRoleForECS': 'aws iam create-service-linked-role',
      'role AWSServiceRoleForApplicationAutoScaling_ECSService': 'aws iam create-service-linked-role',
      'role AWSServiceRoleForElasticLoadBalancing': 'aws iam create-service-linked-role',
      'Fargate vCPUs': 'aws service-quotas request-service-quota-increase',
      zones: '-c zones=<two or',
      certificate: 'aws acm request-certificate',
      'hosted zone': 'aws route53 list-hosted-zones-by-name',
    });
    expect(found['Fargate vCPUs']!.found).toBe('2; a deployment needs 4');
  });

  it.each<[string, Partial<StandInAccount>, string, RegExp]>([
    [
      'credentials of another account',
      { id: '111111111111' },
      'account',
      /for 111111111111, the settings for 000000000000/,
    ],
    ['a bootstrap that is too old', { bootstrapVersion: 3 }, 'CDK bootstrap', /version 3 .* too old/],
    [
      'a certificate that is not issued yet',
      { certificates: { [certificate]: { status: 'PENDING_VALIDATION', names: [domain] } } },
      'certificate',
      /not issued/,
    ],
    [
      'a certificate that is not for websites',
      { certificates: { [certificate]: { status: 'ISSUED', names: [domain, `*.${domain}`] } } },
      'certificate',
      /does not cover \*\.website\.s3\.example\.com$/,
    ],
    [
      'a zone of another domain',
      { hostedZones: { [hostedZone]: 'example.org' } },
      'hosted zone',
      /zone of example\.org/,
    ],
    ['a call that is not allowed', { denied: ['DescribeStacks'] }, 'CDK bootstrap', /the check failed: AccessDenied/],
  ])('tells of %s', async (_, account, check, found) => {
    const { stdout, code } = await preflight(account, '--json', ...named);
    expect(code).toBe(1);
    expect(Object.keys(amiss(stdout))).toEqual([check]);
    expect(amiss(stdout)[check]!.found).toMatch(found);
  });

  it('asks for no servers where there are none', async () => {
    const { code } = await preflight({ roles: [], usualQuotas: {}, zoneIds: [] }, '--json', '-c', 'preset=small');
    expect(code).toBe(0);
  });

  it('is read by people, too, with what to do below each finding', async () => {
    const { stdout, code } = await preflight({ roles: ready.roles.slice(1) });
    expect(code).toBe(1);
    expect(stdout).toContain('ok       account: 000000000000\n');
    expect(stdout).toContain(
      'missing  role AWSServiceRoleForECS: does not exist\n         → aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com\n',
    );
  });

  it('explains itself, and says in one line what is wrong with its command line', async () => {
    expect((await preflight({}, '--help')).stdout).toMatch(/Reads\s+only\./);
    const wrong = await preflight({}, '-c', 'region=nowhere');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(
      /^invalid settings in cdk\.json.*region: must be an AWS region, such as eu-central-1\n$/,
    );
    expect((await preflight({}, '-c', 'region')).code).toBe(2);
    expect(plane!.calls).toEqual([]);
  });
});
