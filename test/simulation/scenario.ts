import type { Unsigned } from '../support/clients/signer.ts';
import type { Deployment, Stores } from './deployment.ts';
import type { Network, Response } from './network.ts';
import type { WriteObserver } from './table-state.ts';
import type { Tenant } from './tenants.ts';

/** A running service, with its stores and its network. */
export interface Stage {
  readonly stores: Stores;
  readonly deployment: Deployment;
  readonly network: Network;
}

/** Clients of a bucket, and checks of the service's guarantees. */
export interface Scenario {
  /** Creates the resources that it needs, without faults. */
  prepare(): Promise<void>;
  /** Sends requests until it is over. */
  run(isOver: () => boolean): Promise<void>;
  /**
   * Checks the final state, when nothing else runs.
   * @throws Error if a guarantee is violated
   */
  check(): Promise<void>;
  /**
   * Checks every write.
   * @throws Error if a guarantee is violated: see {@link Watch}
   */
  readonly observe: WriteObserver;
}

/** Sends a request. Returns undefined if it is not known whether it was carried out. @throws Error if the service failed */
export async function attempt(
  { network }: Stage,
  by: Tenant,
  operation: string,
  unsigned: Unsigned,
): Promise<Response | undefined> {
  let response: Response;
  try {
    response = await network.send(by, unsigned, operation);
  } catch {
    return undefined;
  }
  const { status, text } = response;
  if (status === 503 || (text.includes('<Error>') && status < 300)) return undefined;
  if (status >= 500) throw new Error(`${operation} ${unsigned.path} was answered ${status}: ${text}`);
  return response;
}

/** As {@link attempt}, again and again until it is known to be carried out. @throws Error if it is refused */
export async function insist(stage: Stage, by: Tenant, operation: string, unsigned: Unsigned): Promise<Response> {
  for (;;) {
    const response = await attempt(stage, by, operation, unsigned);
    if (response !== undefined && response.status >= 300) {
      throw new Error(`${operation} ${unsigned.path} was refused: ${response.status} ${response.text}`);
    }
    if (response !== undefined) return response;
  }
}

/** Runs some clients, each of which sends requests one after the other until it is over. */
export async function runClients(
  stage: Stage,
  isOver: () => boolean,
  clients: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const { scheduler } = stage.stores.world;
  const each = clients.map(async (client) => {
    while (!isOver()) {
      await client();
      await stage.deployment.operator.clock.sleep(scheduler.random.next() * 20);
    }
  });
  await Promise.all(each);
}
