import { sessionToken } from '../../shared/documents/sts.ts';
import { defineAction } from '../../shared/protocol/query-api/action.ts';
import { refused } from '../../shared/protocol/query-api/parameters.ts';
import { duration, temporaryKey } from './temporary-key.ts';

/**
 * Makes a temporary key that may what its user may.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetSessionToken.html
 */
export const getSessionToken = defineAction({
  name: 'GetSessionToken',
  // There is no MFA: nobody is to think that it was asked for.
  parameters: { DurationSeconds: duration, SerialNumber: refused, TokenCode: refused },
  authorise: () => [],
  act: async ({ DurationSeconds }, context) => {
    const { Credentials } = await temporaryKey(DurationSeconds, { kind: 'session' }, context);
    return { Credentials };
  },
  result: sessionToken,
});
