import { rm } from 'node:fs/promises';
import { bundleBackground, type BackgroundBundle } from '../../infra/background-bundle.ts';
import { backgroundFunctions } from '../../infra/background-functions.ts';
import { bundleFunctions, type FunctionBundle } from '../../infra/bundle.ts';
import { hostNamesOf } from '../../infra/host-names.ts';
import { describeOperations, otherwise } from '../../infra/operation-descriptions.ts';
import { routerCode } from '../../infra/router-code.ts';
import { synthesise, temporaryDirectory } from '../infra/synthesis.ts';
import type { Context, Pace } from '../support/deployed.ts';
import { startMoto, type Moto } from '../support/moto.ts';
import { DeploymentUnderTest } from './deployment-under-test.ts';

export interface AccountOptions {
  /** The operations that there are; all, if not said. */
  readonly served?: readonly string[];
  /** The functions in the background that there are; none, if not said. */
  readonly inBackground?: readonly string[] | 'all';
}

/** Engines in the place of AWS, and the bundles of the functions: deployments of any settings, one beside another. */
export class CloudAccount {
  readonly #moto: Moto;
  readonly #directory: string;
  readonly #functions: readonly FunctionBundle[];
  readonly #background: readonly BackgroundBundle[];
  readonly #deployments: DeploymentUnderTest[] = [];

  private constructor(parts: {
    moto: Moto;
    directory: string;
    functions: readonly FunctionBundle[];
    background: readonly BackgroundBundle[];
  }) {
    this.#moto = parts.moto;
    this.#directory = parts.directory;
    this.#functions = parts.functions;
    this.#background = parts.background;
  }

  /** @returns undefined without engines */
  static async open({ served, inBackground = [] }: AccountOptions = {}): Promise<CloudAccount | undefined> {
    const moto = await startMoto();
    if (moto === undefined) return undefined;
    const directory = await temporaryDirectory();
    const operations = (await describeOperations()).filter(({ name }) => served?.includes(name) ?? true);
    const functions = await bundleFunctions(operations, directory);
    const background = backgroundFunctions.filter(({ name }) => inBackground === 'all' || inBackground.includes(name));
    return new CloudAccount({
      ...{ moto, directory, functions },
      background: await bundleBackground(background, directory),
    });
  }

  get engine(): string {
    return this.#moto.endpoint;
  }

  /** What somebody asked for without a grant, in any deployment. */
  get denied(): readonly string[] {
    return this.#deployments.flatMap(({ calls }) => calls.denied);
  }

  /** What is granted and was asked for in no deployment. */
  get unused(): readonly string[] {
    const [first = [], ...others] = this.#deployments.map(({ calls }) => calls.unused());
    return first.filter((grant) => others.every((unused) => unused.includes(grant)));
  }

  /** What went wrong where no client looks, in any deployment. */
  get failures(): readonly Error[] {
    return this.#deployments.flatMap(({ failures }) => failures);
  }

  /**
   * Synthesises and starts a deployment.
   * @param former one that it comes after; undefined: it has nothing in common with others
   */
  async deploy(context: Context, pace: Pace = {}, former?: DeploymentUnderTest): Promise<DeploymentUnderTest> {
    const names = hostNamesOf({ domain: context['domain'], websiteDomain: context['websiteDomain'] });
    const hasByteLane = context['byteLane'] !== 'functions' && context['preset'] !== 'small';
    const customerKeys = context['customerKeys'] !== 'false';
    const router = await routerCode({ ...names, functions: this.#functions, otherwise, hasByteLane, customerKeys });
    const synthesis = await synthesise(this.#functions, { context, router });
    const deployment = await DeploymentUnderTest.start(this.#moto.endpoint, synthesis, this.#functions, {
      background: this.#background,
      ...{ pace, former },
    });
    this.#deployments.push(deployment);
    return deployment;
  }

  async close(): Promise<void> {
    await Promise.all(this.#deployments.map((deployment) => deployment.stop()));
    await this.#moto.stop();
    await rm(this.#directory, { recursive: true });
  }
}
