import { App } from 'aws-cdk-lib';
import { expect, it } from 'vitest';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import { DataStack } from '../../infra/stacks/data-stack.ts';
import { environmentOf } from '../../infra/environment.ts';
import { readSettings } from '../../infra/settings.ts';
import { cdkContext } from './synthesis.ts';

const context = await cdkContext();

/** Returns the settings that a process reads from the environment of a deployment with these settings. */
function told(given: Record<string, unknown>) {
  const app = new App({ context: { ...context, ...given } });
  const settings = readSettings(app.node);
  return readCloudSettings(environmentOf(settings, new DataStack(app, 'data', { settings })));
}

it('processes are told what was set', () => {
  const given = {
    publicUrl: 'https://links.example.com/',
    strictRegion: 'true',
    signatureV2: 'false',
    regions: 'eu,mars',
    consoleOrigins: 'https://a.example,https://b.example',
  };
  expect(told(given)).toMatchObject({
    ...{ publicUrl: 'https://links.example.com', strictRegion: true, signatureV2: false, regions: ['eu', 'mars'] },
    consoleOrigins: new Set(['https://a.example', 'https://b.example']),
  });
  expect(told({}).consoleOrigins).toEqual(new Set());
  expect(told({})).toMatchObject({ publicUrl: undefined, strictRegion: false, signatureV2: true, regions: undefined });
});
