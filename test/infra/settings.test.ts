import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { readSettings, type Settings } from '../../infra/settings.ts';
import { run } from '../support/programs/programs.ts';
import { cdkContext, withDomain } from './synthesis.ts';

const context = await cdkContext();
const settings = (given: Record<string, unknown> = {}): Settings =>
  readSettings(new App({ context: { ...context, ...given } }).node);

describe('the settings of a deployment', () => {
  it('stand in cdk.json', () => {
    expect(settings()).toMatchObject({
      stage: 'prod',
      region: 'us-east-1',
      byteLane: 'fargate',
      removalPolicy: 'retain',
      releaseGraceDays: 1,
      limits: {},
      logRetentionDays: 30,
    });
    expect(settings().domain).toBeUndefined();
    expect(settings()).toMatchObject({ strictRegion: false, signatureV2: true, regions: [] });
  });

  it('can be given on the command line, as text', () => {
    expect(settings({ stage: 'dev', logRetentionDays: '7' })).toMatchObject({ stage: 'dev', logRetentionDays: 7 });
    expect(settings({ strictRegion: 'true', signatureV2: 'false', regions: 'eu,mars-north-1' })).toMatchObject({
      ...{ strictRegion: true, signatureV2: false, regions: ['eu', 'mars-north-1'] },
    });
    expect(settings({ console: 'false', consoleOrigins: 'https://a.example,http://localhost:5173' })).toMatchObject({
      ...{ console: false, consoleOrigins: ['https://a.example', 'http://localhost:5173'] },
    });
    expect(settings({ ...withDomain, consoleDomain: 'console.example.com' }).consoleDomain).toBe('console.example.com');
    expect(settings({ limits: '{"bucketBytes":1000}' }).limits).toEqual({ bucketBytes: 1000 });
    expect(settings({ ...withDomain, hostedZone: '' })).toMatchObject({
      domain: 's3.example.com',
      hostedZone: undefined,
    });
  });

  it.each([
    ['stage', 'Prod!'],
    ['account', '123'],
    ['region', 'nowhere'],
    ['domain', 'S3.Example.com'],
    ['domain', 'localhost'],
    ['certificate', 'arn:aws:acm:eu-west-1:000000000000:certificate/1'],
    ['hostedZone', 'example.com'],
    ['originCertificate', 'arn:aws:iam::000000000000:server-certificate/x'],
    ['zones', 'us-east-1a,us-east-1b'],
    ['zones', 'use1-az1'],
    ['zones', 'use1-az1,use1-az1'],
    ['zones', 'use1-az2,use1-az3'],
    ['zones', 'euw1-az1,euw1-az2'],
    ['customerKeys', 'no'],
    ['byteLane', 'none'],
    ['preset', 'large'],
    ['byteLaneMemory', '1024'],
    ['byteLaneMinimumTasks', '0'],
    ['byteLaneMinimumTasks', '21'],
    ['restoredTable', 'stillage-restored'],
    ['restoredTable', 'arn:aws:dynamodb:us-east-1:000000000000:table/stillage-restored'],
    ['restoredTable', 'arn:aws:dynamodb:eu-west-1:000000000000:table/stillage-restored/stream/2026-11-21T03:00:00.000'],
    ['restoredTable', 'arn:aws:dynamodb:us-east-1:111111111111:table/stillage-restored/stream/2026-11-21T03:00:00.000'],
    ['edgeSecretVersion', 'AWSCURRENT'],
    ['removalPolicy', 'keep'],
    ['limits', '{"buckets":1}'],
    ['limits', '{"bucketBytes":0}'],
    ['limits', '{"bucketBytes":1.5}'],
    ['limits', '{"bucketBytes":"1000"}'],
    ['limits', '{"keyBytes":1025}'],
    ['limits', '{"requestsPerSecond":100}'],
    ['limits', '{"concurrentUploads":100}'],
    ['webAcl', 'arn:aws:wafv2:eu-west-1:000000000000:regional/webacl/a/b'],
    ['limits', 'bucketBytes=1'],
    ['publicUrl', 'links.example.com'],
    ['publicUrl', 'ftp://links.example.com'],
    ['strictRegion', 'yes'],
    ['signatureV2', '0'],
    ['regions', 'eu west'],
    ['console', 'maybe'],
    ['consoleDomain', 'https://console.example.com'],
    ['consoleDomain', 'console.example.com'],
    ['consoleOrigins', 'https://console.example.com/'],
    ['consoleOrigins', '*'],
    ['consoleOrigins', 'https://a.example,console.example.com'],
    ['xmlNamespace', 'no url'],
    ['logRetentionDays', '31'],
    ['logRetentionDays', 'ONE_DAY'],
    ['requestsPerSecond', '0'],
    ['releaseGraceDays', '0'],
    ['releaseGraceDays', '36'],
  ])('refuse %s=%s by name', (name, value) => {
    expect(() => settings({ [name]: value })).toThrow(new RegExp(`cdk.json.*${name}[.:]`));
  });

  it.each([
    ['a domain without a certificate', { domain: 's3.example.com' }, 'certificate'],
    ['websites without a domain', { websiteDomain: 'website.example.com' }, 'websiteDomain'],
    ['websites without a byte lane', { ...withDomain, byteLane: 'functions' }, 'websiteDomain'],
    [
      'a domain elsewhere without a certificate for the load balancer',
      { ...withDomain, region: 'eu-central-1' },
      'originCertificate',
    ],
    [
      'a certificate for the load balancer of another region',
      { ...withDomain, region: 'eu-central-1', originCertificate: withDomain.certificate },
      'originCertificate',
    ],
    ['a console at the name of a bucket', { ...withDomain, consoleDomain: 'console.s3.example.com' }, 'consoleDomain'],
    ['a console at the endpoint', { ...withDomain, consoleDomain: 's3.example.com' }, 'consoleDomain'],
    [
      'a console at a website',
      { ...withDomain, consoleOrigins: ['https://a.website.s3.example.com'] },
      'consoleOrigins',
    ],
    [
      'a console at the public URL',
      { publicUrl: 'https://o.example.com', consoleOrigins: 'https://o.example.com' },
      'consoleOrigins',
    ],
    ['a zone without a domain', { hostedZone: 'Z012345' }, 'hostedZone'],
  ])('refuse %s', (_, given, name) => {
    expect(() => settings(given)).toThrow(new RegExp(`cdk.json.*${name}: `));
  });

  it('take their sizes from a preset, but for those that are set', () => {
    expect(settings({ preset: 'small' })).toMatchObject({ byteLane: 'functions' });
    expect(settings({ preset: 'single' })).toMatchObject({
      ...{ byteLane: 'fargate', byteLaneMinimumTasks: 1, byteLaneMaximumTasks: 2 },
      ...{ byteLaneCpu: 512, byteLaneMemory: 1024 },
    });
    expect(settings({ preset: 'single', byteLaneMaximumTasks: '5' })).toMatchObject({ byteLaneMaximumTasks: 5 });
  });

  it('say what is wrong with a limit', () => {
    const faults = (limits: object) => () => settings({ limits });
    expect(faults({ keyBytes: 1025 })).toThrow('limits: keyBytes must be a whole number from 1 to 1024.');
    expect(faults({ keys: 5 })).toThrow('limits: unknown limit "keys"');
    expect(faults({ requestsPerSecond: 5 })).toThrow('limits: use the setting requestsPerSecond');
    expect(settings({ limits: { keyBytes: 1024, corsRules: 5 } }).limits).toEqual({ keyBytes: 1024, corsRules: 5 });
  });

  it('say in one line, without a stack, what is wrong', async () => {
    const given = { ...context, restoredTable: 'arn:aws:dynamodb:us-east-1:000000000000:table/stillage-restored' };
    const { stderr } = await run(process.execPath, ['--import', 'tsx', 'infra/app.ts'], {
      codes: [1],
      cwd: root,
      env: { CDK_CONTEXT_JSON: JSON.stringify(given) },
    });
    expect(stderr).toBe(
      'invalid settings in cdk.json or -c: restoredTable: must be the ARN of the stream of a table (LatestStreamArn), arn:aws:dynamodb:…:table/…/stream/…\n',
    );
  });

  it('name all that is wrong at once', () => {
    expect(() => settings({ stage: '', account: '' })).toThrow(/stage: .*account: /);
  });
});
