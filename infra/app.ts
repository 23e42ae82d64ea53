import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { adminFunction, backgroundFunctions } from './constructs/background-functions.ts';
import { bundleBackground, bundleFunctions } from './bundles/bundle.ts';
import { Deployment, type BuiltConsole } from './deployment.ts';
import { consolePagesCode } from './bundles/edge-function-code.ts';
import { hostNamesOf } from './host-names.ts';
import { describeOperations, otherwise, root } from './bundles/operation-descriptions.ts';
import { routerCode } from './bundles/router-code.ts';
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
const directory = join(root, 'dist/background');
const background = await bundleBackground(backgroundFunctions, directory);
const [admin] = settings.adminApi ? await bundleBackground([adminFunction], directory) : [];
new Deployment(app, {
  settings,
  functions,
  background,
  admin,
  router,
  console: await builtConsole(),
  imageDirectory: root,
});
app.synth();

/** Returns the built console; undefined if the settings turn it off. */
async function builtConsole(): Promise<BuiltConsole | undefined> {
  if (!settings.console) return undefined;
  const directory = join(root, 'dist/console');
  if (existsSync(directory)) return { directory, pages: await consolePagesCode(), version: packageJson.version };
  endWith(
    `there is no console in ${directory}: build it with "node bin/build.mjs", or turn it off with -c console=false`,
  );
}

/** Returns the settings. Exits with one line if they are invalid. */
function settingsOrEnd(): Settings {
  try {
    return readSettings(app.node);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    endWith(error.message);
  }
}

function endWith(message: string): never {
  console.error(message);
  process.exit(1);
}
