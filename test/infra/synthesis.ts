import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationBundle } from '../../infra/bundle.ts';
import { Deployment } from '../../infra/deployment.ts';
import type { OperationDescription } from '../../infra/operation-descriptions.ts';
import { readSettings } from '../../infra/settings.ts';

/** The context of `cdk.json`, as the CLI gives it to the app. */
export async function cdkContext(): Promise<Record<string, unknown>> {
  const text = await readFile(join(import.meta.dirname, '../../cdk.json'), 'utf8');
  return (JSON.parse(text) as { context: Record<string, unknown> }).context;
}

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'stillage-infra-'));
}

export interface Synthesis {
  readonly deployment: Deployment;
  readonly data: Template;
  readonly api: Template;
}

export interface SynthesisOptions {
  /** Lets cdk-nag and the CDK's own rules look at it, which takes seconds: what they find is thrown. */
  readonly validated?: boolean;
  /** Settings besides those of `cdk.json`. */
  readonly context?: Readonly<Record<string, string>>;
  /** Gets the deployment before it is synthesised. */
  readonly spoil?: (deployment: Deployment) => void;
}

/**
 * Synthesises the deployment of these operations, with an empty function for each: what is in a bundle is no concern of a
 * template.
 */
export async function synthesise(
  operations: readonly OperationDescription[],
  { validated = false, context = {}, spoil = () => undefined }: SynthesisOptions = {},
): Promise<Synthesis> {
  const directory = await temporaryDirectory();
  const app = new App({
    outdir: join(directory, 'cdk.out'),
    context: { ...(await cdkContext()), ...context },
    builtinCloudFormationValidation: validated,
  });
  if (validated) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const deployment = new Deployment(app, {
    settings: readSettings(app.node),
    operations: await emptyBundles(operations, directory),
  });
  spoil(deployment);
  try {
    return { deployment, data: Template.fromStack(deployment.data), api: Template.fromStack(deployment.api) };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function emptyBundles(
  operations: readonly OperationDescription[],
  directory: string,
): Promise<readonly OperationBundle[]> {
  return Promise.all(
    operations.map(async (operation) => {
      const own = join(directory, operation.name);
      await mkdir(own, { recursive: true });
      await writeFile(join(own, 'index.mjs'), `export const handler = '${operation.name}';\n`);
      return { ...operation, directory: own };
    }),
  );
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The resources of a type, by their logical ids. */
export function resources(template: Template, type?: string): [id: string, resource: Resource][] {
  const { Resources } = template.toJSON() as { Resources: Record<string, Resource> };
  return Object.entries(Resources).filter(([, resource]) => type === undefined || resource.Type === type);
}
