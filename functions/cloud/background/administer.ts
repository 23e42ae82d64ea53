import { readManagedSecret } from '../../../shared/adapters/cloud/secrets-manager.ts';
import { everyActionKind } from '../../../shared/monitoring/alarms/alarm-definition.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import { administer, type AdministrationRequest } from '../../admin/administer.ts';
import { administrationDeps } from '../../admin/deps.ts';
import { administrationCommands } from '../../../local/cli/commands/administration-commands.ts';
import { deploymentKeys } from '../deployment-keys.ts';
import { backgroundHandler } from './background-handler.ts';

/** Carries out administrative commands. IAM decides who may invoke it. The response may contain the secret of a key. */
export const handler = backgroundHandler(
  'administer',
  async (cloud) => {
    const keys = deploymentKeys(await readManagedSecret(cloud.setting('STILLAGE_SECRET')));
    const endpoint = cloud.setting('STILLAGE_ENDPOINT');
    const deps = administrationDeps({
      ...cloud,
      secrets: new AesSecrets(keys.sealing),
      actionKinds: everyActionKind,
      settings: {
        limits: { ...defaultLimits, ...(JSON.parse(cloud.setting('STILLAGE_LIMITS')) as Partial<Limits>) },
        endpoint,
        publicUrl: process.env['STILLAGE_PUBLIC_URL'] ?? endpoint,
        region: cloud.setting('STILLAGE_REGION'),
        auditsData: false,
      },
    });
    return async (request: AdministrationRequest) => {
      const answer = await administer(administrationCommands, deps, request);
      cloud.log.note('administration', { command: String(request.command), done: answer.ok ? 1 : 0 });
      return answer;
    };
  },
  { secretAnswer: true },
);
