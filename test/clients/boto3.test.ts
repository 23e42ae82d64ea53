import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { boto3Installed, boto3Session, boto3Steps, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { someWays, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { skip } from '../support/programs/programs.ts';

describe.each(someWays)('boto3 over $scheme, buckets in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;
  let outcomes: Record<string, string>;

  beforeAll(async () => {
    if (!boto3Installed) return;
    endpoint = await startEndpoint(scheme);
    outcomes = await boto3Session(endpoint, style);
  });
  afterAll(() => endpoint?.stop());
  beforeEach((context) => {
    if (!boto3Installed) skip(context, howToInstallBoto3);
  });

  it.each(boto3Steps)('%s', (step) => {
    expect(outcomes[step]).toBe('ok');
  });
});
