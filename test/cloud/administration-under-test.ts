import type { Template } from 'aws-cdk-lib/assertions';
import { rm } from 'node:fs/promises';
import { deploymentKeys } from '../../functions/cloud/deployment-keys.ts';
import { bundleBackground } from '../../infra/bundles/bundle.ts';
import { adminFunction, backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { AesSecrets } from '../../shared/adapters/system/aes-secrets.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { synthesiseBackground } from '../infra/background-synthesis.ts';
import { temporaryDirectory } from '../infra/synthesis.ts';
import type { Place } from '../support/storage/administration.ts';
import { startEngines, type Engines } from '../support/cloud/engines.ts';
import { dynamoDbAt } from '../support/cloud/moto.ts';
import { accounts } from '../support/programs/server.ts';
import { BackgroundUnderTest, secret, tableName } from './background-under-test.ts';
import { LambdaApi } from './lambda-api.ts';

/** Why tests of administration in the cloud are skipped. */
export const noCloud = 'no engine in the place of AWS: pip install "moto[server]"';

/**
 * A deployment with its administration: the function from its bundle, with the grants of its role and behind Lambda's API, and the follower
 * that counts usage. It begins with the accounts that tests declare.
 */
export class AdministrationUnderTest {
  readonly deployment: BackgroundUnderTest;
  readonly lambda: LambdaApi;
  readonly #engines: Engines;
  readonly #directory: string;

  private constructor(parts: {
    deployment: BackgroundUnderTest;
    lambda: LambdaApi;
    engines: Engines;
    directory: string;
  }) {
    this.deployment = parts.deployment;
    this.lambda = parts.lambda;
    this.#engines = parts.engines;
    this.#directory = parts.directory;
  }

  /**
   * Undefined: there is no engine on this machine.
   * @param isOverHttp with the function behind the API of operators
   */
  static async start({ isOverHttp = false } = {}): Promise<AdministrationUnderTest | undefined> {
    const engines = await startEngines();
    if (engines === undefined) return undefined;
    const directory = await temporaryDirectory();
    const needed = backgroundFunctions.filter(({ name }) => name === 'Administer' || name === 'CountUsage');
    const { schedule, admin } = await synthesiseBackground();
    const bundles = await bundleBackground([...needed, ...(isOverHttp ? [adminFunction] : [])], directory);
    const template = isOverHttp ? merged(schedule, admin) : schedule.toJSON();
    const deployment = await BackgroundUnderTest.start(engines, template, bundles);
    await declareAccounts(engines.endpoint);
    const lambda = await LambdaApi.ofAdministration(schedule, (event) => deployment.invoke('Administer', event));
    return new AdministrationUnderTest({ deployment, lambda, engines, directory });
  }

  /** As an operator's shell would have it. */
  get place(): Place {
    return this.lambda.place;
  }

  async stop(): Promise<void> {
    await this.lambda.stop();
    await this.deployment.stop();
    await this.#engines.stop();
    await rm(this.#directory, { recursive: true });
  }
}

function merged(...stacks: readonly Template[]): object {
  const resources = stacks.map((stack) => (stack.toJSON() as { readonly Resources: object }).Resources);
  return { Resources: Object.assign({}, ...resources) as object };
}

async function declareAccounts(endpoint: string): Promise<void> {
  const table = new DynamoDbTable({ tableName, client: dynamoDbAt(endpoint, true) });
  const secrets = new AesSecrets(deploymentKeys(secret).sealing);
  const declared = new Accounts({ table, secrets, clock: new SystemClock() });
  for (const project of accounts) await declared.ensure(project);
  await table.close();
}
