import { defineApi } from '../../shared/protocol/query-api/action.ts';
import { assumeRole } from './assume-role.ts';
import { assumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts';
import { getCallerIdentity } from './get-caller-identity.ts';
import { getFederationToken } from './get-federation-token.ts';
import { getSessionToken } from './get-session-token.ts';

/** The Security Token Service: https://docs.aws.amazon.com/STS/latest/APIReference/welcome.html */
export const sts = defineApi({
  name: 'Sts',
  api: 'sts',
  // A project gets its account number when it is first shown.
  needs: { table: 'write' },
  actions: [assumeRole, assumeRoleWithWebIdentity, getCallerIdentity, getFederationToken, getSessionToken],
});
