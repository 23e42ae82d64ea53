import { App, type Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminFunction, backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { Deployment, type BuiltConsole } from '../../infra/deployment.ts';
import type { FunctionDescription, OperationDescription } from '../../infra/bundles/operation-descriptions.ts';
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
  /** Undefined without a byte lane. */
  readonly streaming: Template | undefined;
  readonly edge: Template;
  readonly schedule: Template;
  readonly operations: Template;
  /** Undefined unless a setting asks for it. */
  readonly admin: Template | undefined;
  /** Both undefined unless asked for. */
  readonly console: Template | undefined;
  readonly consoleFiles: Template | undefined;
}

/** The templates of a synthesis, by the names of their stacks. */
export function templates(synthesis: Synthesis): [name: string, template: Template][] {
  const { data, api, streaming, edge, schedule, operations, admin, console, consoleFiles } = synthesis;
  const own = { data, api, ...(streaming && { streaming }), edge, schedule, operations, ...(admin && { admin }) };
  return Object.entries({ ...own, ...(console && { console }), ...(consoleFiles && { consoleFiles }) });
}

/** Settings of a deployment that has a domain and websites. */
export const withDomain = {
  domain: 's3.example.com',
  websiteDomain: 'website.s3.example.com',
  certificate: 'arn:aws:acm:us-east-1:000000000000:certificate/01234567-89ab-cdef-0123-456789abcdef',
  hostedZone: 'Z0123456789ABCDEFGHIJ',
} as const;

/** One function for each of these operations. */
export function functionForEach(operations: readonly OperationDescription[]): readonly FunctionDescription[] {
  return operations.map(({ name, needs }) => ({ name, serves: [name], needs }));
}

/** Returns the number of resources of each type in a template, which shows added and removed resources at a glance. */
export function inventory(template: Template): Readonly<Record<string, number>> {
  const types = resources(template).map(([, { Type }]) => Type);
  return Object.fromEntries(
    [...new Set(types)].toSorted().map((type) => [type, types.filter((one) => one === type).length]),
  );
}

export interface SynthesisOptions {
  /** Runs cdk-nag and the CDK's own rules, which takes seconds, and throws their findings. */
  readonly validated?: boolean;
  /** Settings besides those of `cdk.json`. */
  readonly context?: Readonly<Record<string, string>>;
  /** Gets the deployment before it is synthesised. */
  readonly spoil?: (deployment: Deployment) => void;
  /** With a console: one of a few empty files, or this one. */
  readonly console?: boolean | BuiltConsole;
  /** Gets the directory of the cloud assembly, which is removed afterwards. */
  readonly assembled?: (assembly: string, synthesis: Synthesis) => Promise<void>;
  /** The code of the router, for tests that run it. */
  readonly router?: string;
}

/** Synthesises the deployment of these functions, with empty bundles and images: a template does not depend on their content. */
export async function synthesise(
  functions: readonly FunctionDescription[],
  { validated = false, context = {}, spoil = () => undefined, console = false, ...rest }: SynthesisOptions = {},
): Promise<Synthesis> {
  const { router = 'code', assembled = () => undefined } = rest;
  const directory = await temporaryDirectory();
  const app = new App({
    outdir: join(directory, 'cdk.out'),
    context: { ...(await cdkContext()), ...context },
    builtinCloudFormationValidation: validated,
  });
  if (validated) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const deployment = new Deployment(app, {
    settings: readSettings(app.node),
    functions: await emptyBundles(functions, directory),
    background: await emptyBundles(backgroundFunctions, directory),
    admin: (await emptyBundles([adminFunction], directory))[0],
    router,
    console: console === true ? await someConsole(directory) : console || undefined,
    imageDirectory: await emptyImage(directory),
  });
  spoil(deployment);
  try {
    const { data, api, streaming, edge, schedule, operations } = deployment;
    const templateOf = (stack: Stack | undefined) => stack && Template.fromStack(stack);
    const synthesis = {
      deployment,
      data: Template.fromStack(data),
      api: Template.fromStack(api),
      streaming: templateOf(streaming),
      edge: Template.fromStack(edge),
      schedule: Template.fromStack(schedule),
      operations: Template.fromStack(operations),
      admin: templateOf(deployment.admin),
      console: templateOf(deployment.console),
      consoleFiles: templateOf(deployment.consoleFiles),
    };
    await assembled(join(directory, 'cdk.out'), synthesis);
    return synthesis;
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function emptyBundles<Description extends { readonly name: string }>(
  functions: readonly Description[],
  directory: string,
): Promise<readonly (Description & { readonly directory: string })[]> {
  return Promise.all(
    functions.map(async (description) => {
      const own = join(directory, description.name);
      await mkdir(own, { recursive: true });
      await writeFile(join(own, 'index.mjs'), `export const handler = '${description.name}';\n`);
      return { ...description, directory: own };
    }),
  );
}

async function someConsole(directory: string): Promise<BuiltConsole> {
  const own = join(directory, 'console');
  await mkdir(join(own, 'assets'), { recursive: true });
  await writeFile(join(own, 'index.html'), '<!doctype html><html><head><title>console</title></head></html>');
  await writeFile(join(own, 'assets/app-1a2b3c4d.js'), 'console.log()');
  return { directory: own, pages: 'pages', version: '1.2.3' };
}

async function emptyImage(directory: string): Promise<string> {
  const own = join(directory, 'image');
  await mkdir(own);
  await writeFile(join(own, 'Dockerfile'), 'FROM scratch\n');
  return own;
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
