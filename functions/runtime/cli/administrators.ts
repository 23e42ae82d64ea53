import { InvocationFailed, LambdaFunction } from '../../../shared/adapters/cloud/lambda-function.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import { administer, type AdministrationAnswer, type AdministrationRequest } from '../../admin/administer.ts';
import { administrationDeps } from '../compose/administration.ts';
import type { ServiceSettings } from '../../admin/command.ts';
import type { Ask, CommandName, GivenTo, ResultOf } from '../../admin/commands.ts';
import { OperatorError } from '../operator-error.ts';
import { openExistingData } from '../local/data-directory.ts';
import { localActionKinds } from '../local/monitoring-schedule.ts';
import { defaultOptions, type StartOptions } from '../local/settings.ts';

/** Carries out administrative commands. `ask` rejects with an OperatorError if a command fails. */
export interface Administrator {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** The options that the service of a data directory was started with, as far as administration needs them. */
export type ServiceOptions = Partial<Pick<StartOptions, 'host' | 'tlsCert' | 'region' | 'publicUrl' | 'limit'>> & {
  readonly port?: string;
};

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
  return { ask: asking((request) => administer(deps, request)), close };
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
  const ask = asking(async (request) => {
    const answer = await lambda.invoke(request).catch((error: unknown) => {
      throw error instanceof InvocationFailed ? new OperatorError(error.message) : error;
    });
    if (isAnswer(answer)) return answer;
    throw new OperatorError(`${name} did not answer as the administer function of a deployment does: check --cloud`);
  });
  return { ask, close: () => Promise.resolve() };
}

function asking(carryOut: (request: AdministrationRequest) => Promise<AdministrationAnswer>): Ask {
  return async <Name extends CommandName>(name: Name, given: GivenTo<Name>) => {
    const answer = await carryOut({ ...given, command: name });
    if (!answer.ok) throw new OperatorError(answer.error);
    return answer.result as ResultOf<Name>;
  };
}

function isAnswer(answer: unknown): answer is AdministrationAnswer {
  return typeof answer === 'object' && answer !== null && 'ok' in answer;
}

function settingsOf({ host = defaultOptions.host, port, tlsCert, ...options }: ServiceOptions): ServiceSettings {
  const address = host.includes(':') ? `[${host}]` : host;
  const endpoint = `${tlsCert === undefined ? 'http' : 'https'}://${address}:${port ?? defaultOptions.port}`;
  return {
    limits: { ...defaultLimits, ...options.limit },
    endpoint,
    publicUrl: options.publicUrl ?? endpoint,
    region: options.region ?? defaultOptions.region,
  };
}
