import { InvocationFailed, LambdaFunction } from '../../shared/adapters/cloud/lambda-function.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import { answer, type AdministrationAnswer } from '../../functions/admin/administer.ts';
import { administrationDeps } from '../../functions/admin/deps.ts';
import type { AdministrationCommand, Ask, ServiceSettings } from '../../functions/admin/command.ts';
import { OperatorError } from '../../shared/errors/operator-error.ts';
import { openExistingData } from '../server/data-directory/data-directory.ts';
import { localActionKinds } from '../server/schedules/monitoring-schedule.ts';
import { defaultOptions, type StartOptions } from '../../shared/command-line/start-options.ts';

/** Carries out administrative commands. `ask` rejects with an OperatorError if a command fails. */
export interface Administrator {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** The options that the service of a data directory was started with, as far as administration needs them. */
export type ServiceOptions = Partial<
  Pick<StartOptions, 'host' | 'port' | 'tls' | 'tlsCert' | 'region' | 'publicUrl' | 'limit'>
>;

/** Opens a data directory for administrative commands, whether its service is running or not. @throws OperatorError */
export async function onDataDirectory(data: string, service: ServiceOptions): Promise<Administrator> {
  const opened = await openExistingData(data);
  const deps = administrationDeps({
    ...opened,
    clock: new SystemClock(),
    randomness: new CryptoRandomness(),
    actionKinds: localActionKinds,
    settings: settingsOf(service),
  });
  const close = async (): Promise<void> => {
    await Promise.all([opened.table.close(), opened.blobs.close()]);
  };
  return { ask: asking(({ run }, given) => answer(() => run(deps, given))), close };
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

function settingsOf({
  host = defaultOptions.host,
  port = defaultOptions.port,
  tls,
  tlsCert,
  ...options
}: ServiceOptions): ServiceSettings {
  const address = host.includes(':') ? `[${host}]` : host;
  const endpoint = `${(tls ?? tlsCert) === undefined ? 'http' : 'https'}://${address}:${port}`;
  return {
    limits: { ...defaultLimits, ...options.limit },
    endpoint,
    publicUrl: options.publicUrl ?? endpoint,
    region: options.region ?? defaultOptions.region,
  };
}
