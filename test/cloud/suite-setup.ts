import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { build } from '../../bin/build.mjs';
import { deploymentsVariable, withDefaults, type Context } from '../support/deployed.ts';
import { noEngine } from '../support/moto.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

/**
 * Before the files of `vitest.cloud.config.ts`: opens an account for all of them, and a server that they ask for deployments
 * (test/support/deployed.ts). Those who ask for the same settings share one.
 */
export default async function setup(): Promise<() => Promise<void>> {
  await build('byte-lane');
  const account = await CloudAccount.open();
  if (account === undefined) throw new Error(noEngine);
  const deployments = new Map<string, Promise<DeploymentUnderTest>>();
  const deployed = (context: Context): Promise<DeploymentUnderTest> => {
    const key = JSON.stringify(Object.entries(context).toSorted());
    const found = deployments.get(key) ?? account.deploy(context);
    deployments.set(key, found);
    return found;
  };
  await deployed(withDefaults({}));

  const server = createServer((request, response) => {
    void text(request)
      .then((body) => deployed(JSON.parse(body) as Context))
      .then(
        ({ url }) => response.end(url),
        (error: Error) => response.writeHead(500).end(error.stack),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env[deploymentsVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return async () => {
    server.closeAllConnections();
    server.close();
    const { denied, unused } = account;
    await account.close();
    console.info(`granted, and not used by any request of these files:\n${unused.join('\n')}`);
    if (denied.length > 0) throw new Error(`asked for, and not granted: ${denied.join('; ')}`);
  };
}
