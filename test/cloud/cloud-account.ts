import { rm } from 'node:fs/promises';
import { bundleFunctions, type FunctionBundle } from '../../infra/bundle.ts';
import { hostNamesOf } from '../../infra/environment.ts';
import { describeOperations, otherwise } from '../../infra/operation-descriptions.ts';
import { routerCode } from '../../infra/router-code.ts';
import { synthesise, temporaryDirectory } from '../infra/synthesis.ts';
import type { Context } from '../support/deployed.ts';
import { startMoto, type Moto } from '../support/moto.ts';
import { DeploymentUnderTest } from './deployment-under-test.ts';

/** Engines in the place of AWS, and the bundles of the functions: deployments of any settings, one beside another. */
export class CloudAccount {
  readonly #moto: Moto;
  readonly #directory: string;
  readonly #functions: readonly FunctionBundle[];
  readonly #deployments: DeploymentUnderTest[] = [];

  private constructor(moto: Moto, directory: string, functions: readonly FunctionBundle[]) {
    this.#moto = moto;
    this.#directory = directory;
    this.#functions = functions;
  }

  /** @param served the operations that there are; all, if not said. @returns undefined without engines */
  static async open(served?: readonly string[]): Promise<CloudAccount | undefined> {
    const moto = await startMoto();
    if (moto === undefined) return undefined;
    const directory = await temporaryDirectory();
    const operations = (await describeOperations()).filter(({ name }) => served?.includes(name) ?? true);
    return new CloudAccount(moto, directory, await bundleFunctions(operations, directory));
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

  /** Synthesises and starts a deployment, which has nothing in common with others. */
  async deploy(context: Context): Promise<DeploymentUnderTest> {
    const names = hostNamesOf({ domain: context['domain'], websiteDomain: context['websiteDomain'] });
    const hasByteLane = context['byteLane'] !== 'functions';
    const router = await routerCode({ ...names, functions: this.#functions, otherwise, hasByteLane });
    const synthesis = await synthesise(this.#functions, { context, router });
    const deployment = await DeploymentUnderTest.start(this.#moto.endpoint, synthesis, this.#functions);
    this.#deployments.push(deployment);
    return deployment;
  }

  async close(): Promise<void> {
    await Promise.all(this.#deployments.map((deployment) => deployment.stop()));
    await this.#moto.stop();
    await rm(this.#directory, { recursive: true });
  }
}
