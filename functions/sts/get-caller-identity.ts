import { userArn } from '../../shared/access/user-arn.ts';
import { callerIdentity } from '../../shared/documents/sts.ts';
import { defineAction } from '../../shared/protocol/query-api/action.ts';
import { federatedArn, federatedId } from './federated-user.ts';

/**
 * Tells who signed the request. No policy can deny it.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 */
export const getCallerIdentity = defineAction({
  name: 'GetCallerIdentity',
  parameters: {},
  authorise: () => [],
  act: async (_, { caller: { id, name, account, session } }) => ({
    ...(session?.name === undefined
      ? { Arn: userArn(account, name), UserId: id }
      : { Arn: federatedArn(account, session.name), UserId: federatedId(account, session.name) }),
    Account: account,
  }),
  result: callerIdentity,
});
