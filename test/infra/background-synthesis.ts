import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackgroundBundle } from '../../infra/bundles/bundle.ts';
import { adminFunction, backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { AdminStack } from '../../infra/stacks/admin-stack.ts';
import { DataStack } from '../../infra/stacks/data-stack.ts';
import { OperationsStack } from '../../infra/stacks/operations-stack.ts';
import { ScheduleStack } from '../../infra/stacks/schedule-stack.ts';
import { readSettings } from '../../infra/settings.ts';
import { cdkContext } from './synthesis.ts';

/** The stacks of the functions in the background, and of monitoring. */
export interface BackgroundSynthesis {
  readonly schedule: Template;
  readonly operations: Template;
  /** The API of operators, which a deployment has if it is asked for. */
  readonly admin: Template;
}

const endpoint = 'https://d111111abcdef8.cloudfront.net';

interface SynthesisOptions {
  /** Whether findings of cdk-nag are thrown. */
  readonly validated?: boolean;
  /** Settings that differ from those of cdk.json. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Synthesises them, with an empty file for each function. */
export async function synthesiseBackground(options: SynthesisOptions = {}): Promise<BackgroundSynthesis> {
  const { validated = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'stillage-background-'));
  try {
    const context = { ...(await cdkContext()), ...options.context };
    const app = new App({ outdir: join(directory, 'cdk.out'), context, builtinCloudFormationValidation: validated });
    if (validated) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const settings = readSettings(app.node);
    const env = { account: settings.account, region: settings.region };
    const data = new DataStack(app, 'data', { env, settings });
    const functions = await Promise.all(backgroundFunctions.map((one) => emptyBundle(one, directory)));
    const schedule = new ScheduleStack(app, 'schedule', {
      env,
      settings,
      data,
      endpoint,
      distributions: ['E1'],
      functions,
    });
    const operations = new OperationsStack(app, 'operations', {
      env,
      settings,
      data,
      schedule,
      byteLane: undefined,
      scrub: undefined,
    });
    const admin = new AdminStack(app, 'admin', {
      ...{ env, settings, data, endpoint, function: await emptyBundle(adminFunction, directory) },
    });
    return {
      schedule: Template.fromStack(schedule),
      operations: Template.fromStack(operations),
      admin: Template.fromStack(admin),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function emptyBundle(one: (typeof backgroundFunctions)[number], parent: string): Promise<BackgroundBundle> {
  const directory = join(parent, one.name);
  await mkdir(directory);
  await writeFile(join(directory, 'index.mjs'), `export const handler = '${one.name}';\n`);
  return { ...one, directory };
}
