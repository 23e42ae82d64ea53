import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { join } from 'node:path';
import { bundleBackground } from './background-bundle.ts';
import { backgroundFunctions } from './background-functions.ts';
import { bundleFunctions } from './bundle.ts';
import { Deployment } from './deployment.ts';
import { hostNamesOf } from './environment.ts';
import { describeOperations, otherwise, root } from './operation-descriptions.ts';
import { routerCode } from './router-code.ts';
import { readSettings, type Settings, SettingsError } from './settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const settings = settingsOrEnd();
const functions = await bundleFunctions(await describeOperations(), join(root, 'dist/functions'));
const hasByteLane = settings.byteLane === 'fargate';
const router = await routerCode({
  ...hostNamesOf(settings),
  functions,
  otherwise,
  hasByteLane,
  customerKeys: settings.customerKeys,
});
const background = await bundleBackground(backgroundFunctions, join(root, 'dist/background'));
new Deployment(app, { settings, functions, background, router, imageDirectory: root });
app.synth();

/** The settings. Where they do not hold, one line says why, and the app ends. */
function settingsOrEnd(): Settings {
  try {
    return readSettings(app.node);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
