import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { bestEffort } from '../../shared/storage/table/settled.ts';
import { InvocationFailed, LambdaFunction } from '../../shared/adapters/cloud/lambda-function.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { actOfCommand } from '../../functions/admin/audited.ts';
import { answer, type AdministrationAnswer } from '../../functions/admin/administer.ts';
import { administrationDeps } from '../../functions/admin/deps.ts';
import { pathOf, type AdministrationCommand, type Ask } from '../../functions/admin/command.ts';
import { EphemeralBlobStore } from '../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { OperatorError } from '../../shared/errors/operator-error.ts';
import type { Stores } from '../server/embedded-service.ts';
import { openExistingData } from '../server/data-directory/data-directory.ts';
import { localActionKinds, serviceSettings, type ServiceOptions } from '../server/administration/service-settings.ts';

/** Carries out administrative commands. `ask` rejects with an OperatorError if a command fails. */
export interface Administrator {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** Opens a data directory for administrative commands, whether its service is running or not. @throws OperatorError */
export async function onDataDirectory(data: string, service: ServiceOptions): Promise<Administrator> {
  return onStores(await openExistingData(data), service);
}

/** Opens the table of a service of many machines for administrative commands. @throws OperatorError */
export async function onSharedTable(url: string, keyFile: string, service: ServiceOptions): Promise<Administrator> {
  const { openSharedTable } = await import('../server/many-machines/shared-stores.ts');
  return onStores({ ...(await openSharedTable(url, keyFile)), blobs: new EphemeralBlobStore() }, service);
}

function onStores(opened: Stores, service: ServiceOptions): Administrator {
  const [clock, randomness] = [new SystemClock(), new CryptoRandomness()];
  const deps = administrationDeps({
    ...{ ...opened, clock, randomness },
    actionKinds: localActionKinds,
    settings: serviceSettings(service),
  });
  // The service forgets what is too old.
  const audit = new AuditLog({ table: opened.table, clock, randomness }, undefined, () => undefined);
  const close = async (): Promise<void> => {
    await bestEffort(audit.flush());
    await Promise.all([opened.table.close(), opened.blobs.close()]);
  };
  const by = { kind: 'machine', user: userInfo().username } as const;
  const ask = asking(async (command, given) => {
    const answered = await answer(() => command.run(deps, given));
    if (command.scope === 'manage')
      audit.record({ by, ...actOfCommand(command.name, given), error: answered.ok ? undefined : 'Refused' });
    return answered;
  });
  return { ask, close };
}

/**
 * Returns an administrator that invokes the function of a deployment. IAM decides who may invoke it.
 * @param deployment the stage, or the name or ARN of the function
 */
export function inCloud(deployment: string, region: string | undefined): Administrator {
  // The full name of a function is longer than any stage.
  const isStage = /^[a-z][a-z0-9-]{0,19}$/.test(deployment);
  const name = isStage ? `stillage-${deployment}-administer` : deployment;
  const lambda = new LambdaFunction(name, region);
  const ask = asking(async ({ name: command }, given) => {
    const answered = await lambda.invoke({ ...given, command }).catch((error: unknown) => {
      throw error instanceof InvocationFailed ? new OperatorError(error.message) : error;
    });
    if (isAnswer(answered)) return answered;
    throw new OperatorError(`${name} did not answer as the administer function of a deployment does: check --cloud`);
  });
  return { ask, close: () => Promise.resolve() };
}

/**
 * Returns an administrator that asks a service over HTTP. Requests that change something are repeated if no answer comes, with the same key.
 * @param tokenFile the file with the token of an operator
 */
export async function overHttp(endpoint: string, tokenFile: string): Promise<Administrator> {
  const token = (
    await readFile(tokenFile, 'utf8').catch((cause: unknown) => {
      throw new OperatorError(`--token-file: cannot read ${tokenFile}: ${(cause as Error).message}`);
    })
  ).trim();
  const send = async (name: string, given: object, key: string): Promise<Response> =>
    fetch(endpoint + pathOf(name), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(given),
      redirect: 'error',
    });
  const ask = asking(async ({ name }, given) => {
    const key = randomUUID();
    const response = await send(name, given, key)
      .catch(() => send(name, given, key))
      .catch((cause: unknown) => {
        const why = ((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message;
        throw new OperatorError(`--endpoint: ${endpoint} does not answer: ${why}`);
      });
    const answered: unknown = await response.json().catch(() => undefined);
    if (response.ok) return { ok: true, result: answered };
    const { detail } = (answered ?? {}) as { readonly detail?: unknown };
    if (typeof detail === 'string') return { ok: false, error: detail };
    throw new OperatorError(`--endpoint: ${endpoint} does not answer as a service does for operators: check the port`);
  });
  return { ask, close: () => Promise.resolve() };
}

function asking(
  carryOut: <Given extends object>(
    command: AdministrationCommand<Given, unknown>,
    given: Given,
  ) => Promise<AdministrationAnswer>,
): Ask {
  return async <Given extends object, Result>(command: AdministrationCommand<Given, Result>, given: Given) => {
    const answered = await carryOut(command, given);
    if (!answered.ok) throw new OperatorError(answered.error);
    return answered.result as Result;
  };
}

function isAnswer(answer: unknown): answer is AdministrationAnswer {
  return typeof answer === 'object' && answer !== null && 'ok' in answer;
}
