import { Administration } from '../../../shared/access/administration.ts';
import { KeyAdministration } from '../../../shared/access/key-administration.ts';
import { readManagedSecret } from '../../../shared/adapters/cloud/secrets-manager.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { Buckets } from '../../../shared/metadata/buckets.ts';
import { Usage } from '../../../shared/metadata/usage.ts';
import { administer, type AdministrationRequest } from '../../admin/administer.ts';
import { deploymentKeys } from '../deployment-keys.ts';
import { backgroundHandler } from './background-handler.ts';

/** Manages accounts and quotas for whoever IAM lets invoke it. Its answer may hold the secret of a new key. */
export const handler = backgroundHandler(
  'administer',
  async (rooms) => {
    const keys = deploymentKeys(await readManagedSecret(rooms.setting('STILLAGE_SECRET')));
    const accounts = new Administration(rooms);
    const all = {
      ...rooms,
      accounts,
      keys: new KeyAdministration({ ...rooms, secrets: new AesSecrets(keys.sealing) }, accounts),
      buckets: new Buckets(rooms),
      usage: new Usage(rooms),
    };
    return async (request: AdministrationRequest) => {
      const answer = await administer(all, request);
      rooms.log.note('administration', { command: String(request.command), done: answer.ok ? 1 : 0 });
      return answer;
    };
  },
  { secretAnswer: true },
);
