import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import {
  bundleBackground,
  bundleFunctions,
  type BackgroundBundle,
  type FunctionBundle,
} from '../../infra/bundles/bundle.ts';
import type { BuiltConsole } from '../../infra/deployment.ts';
import { consolePagesCode } from '../../infra/bundles/edge-function-code.ts';
import { hostNamesOf } from '../../infra/host-names.ts';
import { describeOperations, otherwise, root } from '../../infra/bundles/operation-descriptions.ts';
import { routerCode } from '../../infra/bundles/router-code.ts';
import { synthesise, temporaryDirectory } from '../infra/synthesis.ts';
import type { Context, Pace } from '../support/cloud/deployed.ts';
import { freePort } from '../support/runs/free-port.ts';
import { startEngines, type Engines } from '../support/cloud/engines.ts';
import { readAssets, type Assets } from './bucket-deployments.ts';
import { DeploymentUnderTest, type DeployedConsole, type Internet } from './deployment-under-test.ts';

export interface AccountOptions {
  /** The operations to deploy. Default: all. */
  readonly served?: readonly string[];
  /** The functions in the background to deploy. Default: none. */
  readonly inBackground?: readonly string[] | 'all';
}

/** How a deployment is to be, besides its settings. */
export interface Wanted {
  readonly pace?: Pace;
  /** True: with the console. The settings name its origin, and the URL of the API. */
  readonly console?: boolean;
  /** One that it comes after; undefined: it has nothing in common with others. */
  readonly former?: DeploymentUnderTest;
  /** What its functions reach besides AWS. */
  readonly internet?: Internet;
}

/** Engines in the place of AWS, and the bundles of the functions: deployments of any settings, one beside another. */
export class CloudAccount {
  readonly #engines: Engines;
  readonly #directory: string;
  readonly #functions: readonly FunctionBundle[];
  readonly #background: readonly BackgroundBundle[];
  readonly #deployments: DeploymentUnderTest[] = [];

  private constructor(parts: {
    engines: Engines;
    directory: string;
    functions: readonly FunctionBundle[];
    background: readonly BackgroundBundle[];
  }) {
    this.#engines = parts.engines;
    this.#directory = parts.directory;
    this.#functions = parts.functions;
    this.#background = parts.background;
  }

  /** @returns undefined without engines */
  static async open({ served, inBackground = [] }: AccountOptions = {}): Promise<CloudAccount | undefined> {
    const engines = await startEngines();
    if (engines === undefined) return undefined;
    const directory = await temporaryDirectory();
    const operations = (await describeOperations()).filter(({ name }) => served?.includes(name) ?? true);
    const functions = await bundleFunctions(operations, directory);
    const background = backgroundFunctions.filter(({ name }) => inBackground === 'all' || inBackground.includes(name));
    return new CloudAccount({
      ...{ engines, directory, functions },
      background: await bundleBackground(background, directory),
    });
  }

  get engine(): string {
    return this.#engines.endpoint;
  }

  /** Returns the calls without a grant, in any deployment. */
  get denied(): readonly string[] {
    return this.#deployments.flatMap(({ calls }) => calls.denied);
  }

  /** Returns the grants that no deployment used. */
  get unused(): readonly string[] {
    const [first = [], ...others] = this.#deployments.map(({ calls }) => calls.unused());
    return first.filter((grant) => others.every((unused) => unused.includes(grant)));
  }

  /** Returns the errors of all deployments outside requests of clients. */
  get failures(): readonly Error[] {
    return this.#deployments.flatMap(({ failures }) => failures);
  }

  /** Synthesises and starts a deployment. */
  async deploy(
    given: Context,
    { pace = {}, console = false, former, internet }: Wanted = {},
  ): Promise<DeploymentUnderTest> {
    // Pages of the console call the API at the address in the templates.
    const ports = console ? { api: await freePort(), console: await freePort() } : undefined;
    const context = ports === undefined ? given : { ...given, ...addressesOf(ports) };
    const names = hostNamesOf({ domain: context['domain'], websiteDomain: context['websiteDomain'] });
    const hasByteLane = context['byteLane'] !== 'functions' && context['preset'] !== 'small';
    const customerKeys = context['customerKeys'] !== 'false';
    const router = await routerCode({ ...names, functions: this.#functions, otherwise, hasByteLane, customerKeys });
    let assets: Assets = new Map();
    const synthesis = await synthesise(this.#functions, {
      ...{ context, router },
      ...(console && { console: await builtConsole() }),
      assembled: async (assembly, { consoleFiles }) => {
        if (consoleFiles) assets = await readAssets(assembly, consoleFiles);
      },
    });
    const deployment = await DeploymentUnderTest.start(this.#engines, synthesis, this.#functions, {
      background: this.#background,
      ...{ pace, former, internet },
      console: ports && ({ assets, ports } satisfies DeployedConsole),
    });
    this.#deployments.push(deployment);
    return deployment;
  }

  async close(): Promise<void> {
    await Promise.all(this.#deployments.map((deployment) => deployment.stop()));
    await this.#engines.stop();
    await rm(this.#directory, { recursive: true });
  }
}

function addressesOf(ports: DeployedConsole['ports']): Context {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  return { publicUrl: at(ports.api), consoleOrigins: at(ports.console) };
}

/** The console as `infra/app.ts` deploys it. */
async function builtConsole(): Promise<BuiltConsole> {
  const directory = join(root, 'dist/console');
  return { directory, pages: await consolePagesCode(), version: packageJson.version };
}
