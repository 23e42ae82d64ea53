import { actingArn, federatedArn, isRoot } from '../../shared/access/user-arn.ts';
import { callerIdentity } from '../../shared/documents/sts.ts';
import { defineAction } from '../../shared/protocol/query-api/action.ts';
import { assumedRoleId } from './assumed-role.ts';
import { federatedId } from './federated-user.ts';

/**
 * Tells who signed the request. No policy can deny it.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 */
export const getCallerIdentity = defineAction({
  name: 'GetCallerIdentity',
  parameters: {},
  authorise: () => [],
  act: async (_, { caller }) => {
    const Account = caller.project.accountNumber;
    const { id, session } = caller;
    const Arn = actingArn(Account, caller);
    if (session?.kind === 'role') return { Arn, UserId: assumedRoleId(id, session.name), Account };
    if (session?.name !== undefined)
      return { Arn: federatedArn(Account, session.name), UserId: federatedId(Account, session.name), Account };
    return { Arn, UserId: isRoot(caller) ? Account : id, Account };
  },
  result: callerIdentity,
});
