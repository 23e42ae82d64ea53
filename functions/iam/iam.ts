import { defineApi } from '../../shared/protocol/query-api/action.ts';
import { accessKeyActions } from './access-keys.ts';
import { accountActions } from './account.ts';
import { boundaryActions } from './boundaries.ts';
import { carrierPolicyActions } from './carrier-policies.ts';
import { groupActions } from './groups.ts';
import { managedPolicyActions } from './managed-policies.ts';
import { providerActions } from './providers.ts';
import { roleActions } from './roles.ts';
import { simulatePrincipalPolicy } from './simulate.ts';
import { tagActions } from './tags.ts';
import { userActions } from './users.ts';

/** Identity and Access Management: https://docs.aws.amazon.com/IAM/latest/APIReference/welcome.html */
export const iam = defineApi({
  name: 'Iam',
  api: 'iam',
  needs: { table: 'write' },
  actions: [
    ...userActions,
    ...accessKeyActions,
    ...carrierPolicyActions('User', 64),
    ...carrierPolicyActions('Group', 128),
    ...carrierPolicyActions('Role', 64),
    ...managedPolicyActions,
    ...boundaryActions('User'),
    ...boundaryActions('Role'),
    ...groupActions,
    ...roleActions,
    ...providerActions,
    ...tagActions('User'),
    ...tagActions('Role'),
    ...tagActions('Policy'),
    ...tagActions('OpenIDConnectProvider'),
    ...accountActions,
    simulatePrincipalPolicy,
  ],
});
