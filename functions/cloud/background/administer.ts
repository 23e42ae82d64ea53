import { administer, type AdministrationRequest } from '../../admin/administer.ts';
import { actOfCommand } from '../../admin/audited.ts';
import { administrationCommands } from '../../../local/cli/commands/administration-commands.ts';
import { operatorCommands } from '../../../local/cli/commands/operator.ts';
import { administrationOf } from './administration.ts';
import { backgroundHandler } from './background-handler.ts';

const commands = [...administrationCommands, ...Object.values(operatorCommands)];

/** Carries out administrative commands. IAM decides who may invoke it. The response may contain the secret of a key. */
export const handler = backgroundHandler(
  'administer',
  async (cloud) => {
    const { administration, audit } = await administrationOf(cloud);
    return async (request: AdministrationRequest, _stopping, requestId) => {
      const answer = await administer(commands, administration, request);
      const { command, ...given } = request;
      cloud.log.note('administration', { command: String(command), done: answer.ok ? 1 : 0 });
      if (audit && commands.some(({ name, scope }) => name === command && scope === 'manage')) {
        const error = answer.ok ? undefined : 'Refused';
        audit.record({ by: { kind: 'invoker' }, ...actOfCommand(command, given), requestId, error });
        await audit.flush();
      }
      return answer;
    };
  },
  { secretAnswer: true },
);
