import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { build } from '../../bin/build.mjs';
import { buildConsole } from '../../console/build.mjs';
import { deploymentsVariable, wishOf, type Deployed, type Wish } from '../support/cloud/deployed.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

/**
 * Before the files of `vitest.cloud.config.ts`: opens an account for all of them, and a server that they ask for deployments
 * (test/support/cloud/deployed.ts). Those who ask for the same settings share one.
 */
export default async function setup(): Promise<() => Promise<void>> {
  await Promise.all([build('byte-lane'), buildConsole()]);
  const account = await CloudAccount.open({ inBackground: 'all' });
  if (account === undefined) throw new Error(noEngine);
  const deployments = new Map<string, Promise<DeploymentUnderTest>>();
  const deployed = ({ context, pace, console = false }: Wish): Promise<DeploymentUnderTest> => {
    const key = JSON.stringify([context, pace, { console }].map((one) => Object.entries(one).toSorted()));
    const found = deployments.get(key) ?? account.deploy(context, { pace, console });
    deployments.set(key, found);
    return found;
  };
  await deployed(wishOf({}));

  const logOf = async (wanted: string | null): Promise<string> => {
    for (const deployment of await Promise.all(deployments.values())) {
      if (deployment.url === wanted) return deployment.log();
    }
    throw new Error(`there is no deployment at ${wanted}`);
  };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://suite');
    const answer = async (): Promise<string> => {
      if (request.method === 'GET') return logOf(searchParams.get('of'));
      const { url, consoleUrl, place, kept } = await deployed(JSON.parse(await text(request)) as Wish);
      return JSON.stringify({ url, consoleUrl, place, kept } satisfies Deployed);
    };
    void answer().then(
      (body) => response.end(body),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env[deploymentsVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return async () => {
    server.closeAllConnections();
    server.close();
    await account.close();
    const { denied, unused, failures } = account;
    console.info(`granted, and not used by any request of these files:\n${unused.join('\n')}`);
    if (failures.length > 0) throw new AggregateError(failures, 'what runs in the background failed');
    if (denied.length > 0) throw new Error(`asked for, and not granted: ${denied.join('; ')}`);
  };
}
