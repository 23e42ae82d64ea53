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
  act: async (_, { caller: { id, name, project, session } }) => ({
    ...(session?.name === undefined
      ? { Arn: `arn:aws:iam::${project.id}:user/${name}`, UserId: id }
      : { Arn: federatedArn(project, session.name), UserId: federatedId(project, session.name) }),
    Account: project.id,
  }),
  result: callerIdentity,
});
