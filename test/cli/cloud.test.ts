import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LambdaApi, type Invocation } from '../cloud/lambda-api.ts';
import { runProgram } from '../support/programs/program.ts';

let lambda: LambdaApi;
beforeAll(async () => {
  lambda = await LambdaApi.start(
    new Map<string, Invocation>([
      ['stillage-prod-administer', (event) => Promise.resolve({ ok: true, result: event })],
      ['stillage-burning-administer', () => Promise.reject(new Error('the table is on fire\nat line 1'))],
      ['sends-newsletters', () => Promise.resolve({ statusCode: 200 })],
    ]),
  );
});
afterAll(() => lambda.stop());

/** The environment of an operator's shell. An empty variable counts as unset. */
const shell = (): Record<string, string> => ({
  AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
  AWS_REGION: 'us-east-1',
  AWS_DEFAULT_REGION: '',
  AWS_ACCESS_KEY_ID: 'operator',
  AWS_SECRET_ACCESS_KEY: 'of-the-operator',
  AWS_PROFILE: '',
  AWS_CONFIG_FILE: '/nowhere',
  AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
  AWS_EC2_METADATA_DISABLED: 'true',
});
const arn = (region: string, name: string): string => `arn:aws:lambda:${region}:000000000000:function:${name}`;

describe('a deployment in the cloud', () => {
  it.each([
    [['--cloud', 'prod'], {}],
    [['--cloud', arn('eu-central-1', 'stillage-prod-administer')], { AWS_REGION: '' }],
    [['--cloud', 'stillage-prod-administer', '--aws-region', 'eu-central-1'], { AWS_REGION: '' }],
    [['--cloud', 'prod'], { AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-central-1' }],
    [[], { STILLAGE_CLOUD: 'prod' }],
    [['--cloud', 'prod'], { STILLAGE_DATA: '/nowhere/data' }],
  ])('is asked where %j and %j say so', async (args, env) => {
    const { code, stdout, stderr } = await runProgram(['customer', 'create', 'acme', '--json', ...args], {
      env: { ...shell(), ...env },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ customer: 'acme', command: 'customer create' });
  });

  it.each([
    [
      ...['a function that is not there', ['--cloud', 'staging'], {}],
      /^there is no function stillage-staging-administer in us-east-1: check the name and the region$/,
    ],
    [
      ...['somebody whom IAM does not let', ['--cloud', 'prod'], { AWS_ACCESS_KEY_ID: 'stranger' }],
      /^AWS did not invoke stillage-prod-administer: AccessDeniedException: User: stranger is not authorized .*; the environment sets the AWS endpoint to http:\/\/127\.0\.0\.1:\d+$/,
    ],
    [
      ...['no credentials', ['--cloud', 'prod'], { AWS_ACCESS_KEY_ID: '' }],
      /^no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/,
    ],
    [
      ...['no region', ['--cloud', 'prod'], { AWS_REGION: '' }],
      /^no AWS region is known: pass --aws-region, or set AWS_REGION$/,
    ],
    [
      ...['nobody at the address', ['--cloud', 'prod'], { AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:1' }],
      /^AWS did not invoke stillage-prod-administer: .*ECONNREFUSED.*; the environment sets the AWS endpoint to http:\/\/127\.0\.0\.1:1$/,
    ],
    [
      ...['a function that fails', ['--cloud', 'burning'], {}],
      /^the function stillage-burning-administer failed: Error: the table is on fire; see its log$/,
    ],
    [
      ...['another function', ['--cloud', arn('us-east-1', 'sends-newsletters')], {}],
      /^arn:aws:lambda:us-east-1:000000000000:function:sends-newsletters did not answer as the administer function of a deployment does: check --cloud$/,
    ],
    ['two places', ['--cloud', 'prod', '--data', 'data'], {}, /^--data and --cloud cannot be used together$/],
    [
      ...['two places in the environment', [], { STILLAGE_CLOUD: 'prod', STILLAGE_DATA: 'data' }],
      /^STILLAGE_DATA and STILLAGE_CLOUD are both set: choose with --data or --cloud$/,
    ],
    ['a region of nothing', ['--aws-region', 'us-east-1'], {}, /^--aws-region needs --cloud$/],
    [
      ...['a data directory that is said', ['--data', '/nowhere/data'], { STILLAGE_CLOUD: 'prod' }],
      /^--data: \/nowhere\/data is not a data directory: /,
    ],
  ] as [string, string[], Record<string, string>, RegExp][])('%s is one line', async (what, args, env, line) => {
    const { code, stdout, stderr } = await runProgram(['customer', 'list', ...args], { env: { ...shell(), ...env } });
    // A mistake of the command line, or what came of a good one.
    const isMistake = /^(two places|a region of nothing)/.test(what);
    expect({ code, stdout }).toEqual({ code: isMistake ? 2 : 1, stdout: '' });
    expect(stderr).toMatch(/^stillage: [^\n]*\n$/);
    expect(stderr.slice('stillage: '.length, -1)).toMatch(line);
  });

  it('knows how it was set up, and need not be told', async () => {
    const told = [
      ['quota', 'show', 'bucket', '--limit', 'bucketBytes=1'],
      ['env', 'key', '--port', '9001'],
      ['link', 'create', 'bucket', 'key', '--public-url', 'https://links.test'],
    ];
    for (const args of told) {
      const { code, stderr } = await runProgram([...args, '--cloud', 'prod'], { env: shell() });
      expect([code, stderr]).toEqual([
        2,
        `stillage: ${args.at(-2)} cannot be used with --cloud: a deployment has its own setting\n`,
      ]);
    }
  });
});
