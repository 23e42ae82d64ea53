import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { presets } from '../../infra/presets.ts';
import type { Settings } from '../../infra/settings.ts';
import { DeployedStacks, type StackTemplate, type Stacks } from './deployed-stacks.ts';
import { synthesise, withDomain } from './synthesis.ts';

type Context = Readonly<Record<string, string>>;

/** Two values of a setting, of which the first is the usual one unless given; or why a deployment keeps the one that it has. */
type Change = { readonly from?: Context; readonly to: Context; readonly console?: false } | { readonly fixed: string };

const otherCertificate = withDomain.certificate.replace('cdef', 'beef');
const streamArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/stillage-restored/stream/2026-11-21T03:00:00.000';

/** Every setting: one that is added has to say here what its change is. */
const changes: Readonly<Record<keyof Settings, Change>> = {
  preset: { to: { preset: 'small' } },
  stage: { fixed: 'another stage is another deployment' },
  account: { fixed: 'another account is another deployment' },
  region: { fixed: 'another region is another deployment' },
  domain: { to: { domain: withDomain.domain, certificate: withDomain.certificate } },
  websiteDomain: { from: { ...withDomain, websiteDomain: '' }, to: withDomain },
  certificate: { from: withDomain, to: { ...withDomain, certificate: otherCertificate } },
  originCertificate: { from: withDomain, to: { ...withDomain, originCertificate: otherCertificate } },
  hostedZone: { from: { ...withDomain, hostedZone: '' }, to: withDomain },
  byteLane: { to: { byteLane: 'functions' } },
  byteLaneCpu: { to: { byteLaneCpu: '2048', byteLaneMemory: '4096' } },
  byteLaneMemory: { to: { byteLaneMemory: '4096' } },
  zones: { from: { zones: 'use1-az1,use1-az2' }, to: { zones: 'use1-az2,use1-az4' } },
  byteLaneMinimumTasks: { to: { byteLaneMinimumTasks: '3' } },
  byteLaneMaximumTasks: { to: { byteLaneMaximumTasks: '30' } },
  restoredTable: { to: { restoredTable: streamArn } },
  edgeSecretVersion: { to: { edgeSecretVersion: '01234567-89ab-cdef-0123-456789abcdef' } },
  releaseGraceDays: { to: { releaseGraceDays: '7' } },
  scrubDays: { to: { scrubDays: '0' } },
  removalPolicy: { to: { removalPolicy: 'destroy' } },
  limits: { to: { limits: '{"bucketBytes":1000000}' } },
  webAcl: { to: { webAcl: 'arn:aws:wafv2:us-east-1:000000000000:global/webacl/name/0123' } },
  publicUrl: { to: { publicUrl: 'https://s3.example.com' } },
  console: { to: {}, console: false },
  consoleDomain: { from: withDomain, to: { ...withDomain, consoleDomain: 'console.example.com' } },
  consoleOrigins: { to: { consoleOrigins: 'https://console.example.com' } },
  strictRegion: { to: { strictRegion: 'true' } },
  signatureV2: { to: { signatureV2: 'false' } },
  customerKeys: { to: { customerKeys: 'false' } },
  regions: { to: { regions: 'eu-central-1' } },
  xmlNamespace: { to: { xmlNamespace: 'https://s3.example.com/doc/' } },
  allUsersGroupUri: { to: { allUsersGroupUri: 'https://s3.example.com/groups/all' } },
  requestLog: { to: { requestLog: 'all' } },
  logRetentionDays: { to: { logRetentionDays: '365' } },
  auditDays: { to: { auditDays: '365' } },
  auditStrict: { to: { auditStrict: 'true' } },
  adminApi: { to: { adminApi: 'true' } },
  gradual: { to: { gradual: 'false' } },
  requestsPerSecond: { to: { requestsPerSecond: '3000' } },
  burst: { to: { burst: '2000' } },
};

/** Of each kind one, so that a synthesis is quick: gradual and not, of the byte lane and not. */
const operations = new Set(['GetObject', 'PutObject', 'ListObjectsV2', 'PutBucketPolicy']);
const known = new Map<string, Promise<Stacks>>();

async function stacksOf(context: Context, console = true): Promise<Stacks> {
  const key = JSON.stringify([context, console]);
  const stacks = known.get(key) ?? synthesised(context, console);
  known.set(key, stacks);
  return stacks;
}

async function synthesised(context: Context, console: boolean): Promise<Stacks> {
  const functions = functionsOf(await describeOperations()).filter(({ serves }) =>
    serves.some((name) => operations.has(name)),
  );
  const stacks = new Map<string, StackTemplate>();
  await synthesise(functions, {
    context,
    console,
    assembled: async (directory) => {
      for (const { stackName, template } of new CloudAssembly(directory).stacks)
        stacks.set(stackName, template as StackTemplate);
    },
  });
  return stacks;
}

/** Deploys one and then the other. @returns what the second deployment changes */
function changed(former: Stacks, next: Stacks): string {
  const { replaced, left } = new DeployedStacks(former).deploy(next);
  const types = new Set(replaced.map((one) => one.split(' ')[1]!).filter((type) => !isRevision(type)));
  return [
    types.size === 0 ? 'in place' : `replaces ${[...types].toSorted().join(', ')}`,
    ...left.map((name) => `leaves ${name}`),
  ].join('; ');
}

/** What has no state and no name: a new one is made for each change. */
function isRevision(type: string): boolean {
  return (
    type === 'AWS::ECS::TaskDefinition' || type === 'AWS::Lambda::Version' || type === 'AWS::ApiGateway::Deployment'
  );
}

const lastRelease = JSON.parse(
  gunzipSync(await readFile(join(import.meta.dirname, 'last-release.json.gz'))).toString('utf8'),
) as Readonly<Record<string, Readonly<Record<string, StackTemplate>>>>;

/** The variants in last-release.json.gz. */
const variants: Readonly<Record<string, Context>> = {
  ...Object.fromEntries(Object.keys(presets).map((preset) => [preset, { preset }])),
  named: { ...withDomain, consoleDomain: 'console.example.com' },
};

describe('a running deployment', () => {
  const rows: string[] = [];

  it.each(Object.entries(changes))('takes another value of %s, and the former one again', async (name, change) => {
    if ('fixed' in change) {
      rows.push(`| \`${name}\` | never: ${change.fixed} | |`);
      return;
    }
    const [from, to] = [await stacksOf(change.from ?? {}), await stacksOf(change.to, change.console)];
    expect(from).not.toEqual(to);
    rows.push(`| \`${name}\` | ${changed(from, to)} | ${changed(to, from)} |`);
  });

  it('takes every other preset', async () => {
    const names = Object.keys(presets);
    for (const [at, one] of names.entries()) {
      for (const other of names.slice(at + 1)) {
        const [from, to] = [await stacksOf({ preset: one }), await stacksOf({ preset: other })];
        rows.push(`| ${one} → ${other} | ${changed(from, to)} | ${changed(to, from)} |`);
      }
    }
  });

  it('is changed as docs/cloud-changes.md says', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/cloud-changes.md'), 'utf8');
    const table = ['| setting | another value | back again |', '| --- | --- | --- |', ...rows].join('\n');
    expect(page).toContain(`\n\n${table}\n`);
  });

  it.each(Object.entries(variants))(
    'of the last release becomes one of this in two steps, if it is %s',
    async (name, context) => {
      const former = new Map(Object.entries(lastRelease[name]!));
      const [between, next] = [await stacksOf({ ...context, [strength]: 'both' }), await stacksOf(context)];
      if (name !== 'small') expect(() => changed(former, next)).toThrow('as it is in use by');
      const stacks = new DeployedStacks(former);
      for (const step of [between, next]) expect(stacks.deploy(step).left).toEqual([]);
    },
  );
});

const strength = '@aws-cdk/core:defaultCrossStackReferences';
