import { elements, ifAny, number, one, text, time } from './schema.ts';

/** Who signed a request: GetCallerIdentity. */
export const callerIdentity = elements({
  Arn: one('Arn', text),
  UserId: one('UserId', text),
  Account: one('Account', text),
});

const credentials = one(
  'Credentials',
  elements({
    AccessKeyId: one('AccessKeyId', text),
    SecretAccessKey: one('SecretAccessKey', text),
    SessionToken: one('SessionToken', text),
    Expiration: one('Expiration', time),
  }),
);

/** A temporary key: GetSessionToken. */
export const sessionToken = elements({ Credentials: credentials });

/** A temporary key for somebody else: GetFederationToken. */
export const federationToken = elements({
  Credentials: credentials,
  FederatedUser: one(
    'FederatedUser',
    elements({ FederatedUserId: one('FederatedUserId', text), Arn: one('Arn', text) }),
  ),
  PackedPolicySize: one('PackedPolicySize', number),
});

/** A temporary key of a role: AssumeRole. */
const assumed = {
  Credentials: credentials,
  AssumedRoleUser: one(
    'AssumedRoleUser',
    elements({ AssumedRoleId: one('AssumedRoleId', text), Arn: one('Arn', text) }),
  ),
  PackedPolicySize: ifAny('PackedPolicySize', number),
};
export const assumedRole = elements(assumed);

/** A temporary key of a role, for whoever has a token: AssumeRoleWithWebIdentity. */
export const assumedByToken = elements({
  ...assumed,
  SubjectFromWebIdentityToken: one('SubjectFromWebIdentityToken', text),
  Provider: one('Provider', text),
  Audience: one('Audience', text),
});
