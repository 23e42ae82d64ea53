import { defineApi } from '../../shared/protocol/query-api/action.ts';
import { getCallerIdentity } from './get-caller-identity.ts';
import { getFederationToken } from './get-federation-token.ts';
import { getSessionToken } from './get-session-token.ts';

/** The Security Token Service: https://docs.aws.amazon.com/STS/latest/APIReference/welcome.html */
export const sts = defineApi({
  name: 'Sts',
  api: 'sts',
  needs: { table: 'read' },
  actions: [getCallerIdentity, getFederationToken, getSessionToken],
});
