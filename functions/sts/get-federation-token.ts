import { federationToken } from '../../shared/documents/sts.ts';
import { defineAction } from '../../shared/protocol/query-api/action.ts';
import { refused, text } from '../../shared/protocol/query-api/parameters.ts';
import { federatedArn } from '../../shared/access/user-arn.ts';
import { federatedId } from './federated-user.ts';
import { limiting, sessionPolicies } from './session-policies.ts';
import { duration, temporaryKey } from './temporary-key.ts';

/**
 * Makes a temporary key for somebody else, who may what both its policy and the user's allow; without a policy, nothing.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetFederationToken.html
 */
export const getFederationToken = defineAction({
  name: 'GetFederationToken',
  parameters: {
    Name: text({ least: 2, most: 32, form: /^[\w+=,.@-]*$/ }),
    ...limiting,
    Tags: refused,
    DurationSeconds: duration,
  },
  authorise: ({ Name }, { project }) => [
    { action: 'sts:GetFederationToken', resource: federatedArn(project.accountNumber, Name) },
  ],
  act: async ({ Name, DurationSeconds, ...limits }, context) => {
    const policies = await sessionPolicies(limits, context.caller.project, context.identities);
    const made = await temporaryKey(DurationSeconds, { kind: 'federated', name: Name, policies }, context);
    const account = context.caller.project.accountNumber;
    return {
      Credentials: made.Credentials,
      FederatedUser: { FederatedUserId: federatedId(account, Name), Arn: federatedArn(account, Name) },
      PackedPolicySize: made.packedSize,
    };
  },
  result: federationToken,
});
