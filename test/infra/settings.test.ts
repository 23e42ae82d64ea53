import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { readSettings, type Settings } from '../../infra/settings.ts';
import { cdkContext } from './synthesis.ts';

const context = await cdkContext();
const settings = (given: Record<string, unknown> = {}): Settings =>
  readSettings(new App({ context: { ...context, ...given } }).node);

describe('the settings of a deployment', () => {
  it('stand in cdk.json', () => {
    expect(settings()).toMatchObject({
      stage: 'prod',
      region: 'us-east-1',
      domain: 's3.example.com',
      logRetentionDays: 30,
    });
  });

  it('can be given on the command line, as text', () => {
    expect(settings({ stage: 'dev', logRetentionDays: '7' })).toMatchObject({ stage: 'dev', logRetentionDays: 7 });
  });

  it.each([
    ['stage', 'Prod!'],
    ['account', '123'],
    ['region', 'nowhere'],
    ['domain', ''],
    ['xmlNamespace', 'no url'],
    ['logRetentionDays', '31'],
    ['logRetentionDays', 'ONE_DAY'],
    ['requestsPerSecond', '0'],
  ])('refuse %s=%s by name', (name, value) => {
    expect(() => settings({ [name]: value })).toThrow(new RegExp(`cdk.json.*${name}: `));
  });

  it('name all that is wrong at once', () => {
    expect(() => settings({ stage: '', account: '' })).toThrow(/stage: .*account: /);
  });
});
