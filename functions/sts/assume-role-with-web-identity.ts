import { assumedByToken } from '../../shared/documents/sts.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { defineOpenAction } from '../../shared/protocol/query-api/action.ts';
import { refused, secret, text } from '../../shared/protocol/query-api/parameters.ts';
import { accountOf, assuming, findRole, sessionOf, trustedBy } from './assume-role.ts';
import { verifiedIdentity } from './web-identity.ts';

/**
 * Makes a temporary key of a role for whoever has a token of an OpenID Connect provider that the role trusts: a job of a CI system, which has no key.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export const assumeRoleWithWebIdentity = defineOpenAction({
  name: 'AssumeRoleWithWebIdentity',
  parameters: { ...assuming, WebIdentityToken: secret(text({ least: 4, most: 20_000 })), ProviderId: refused },
  act: async (input, context) => {
    // The token comes first: strangers without one learn nothing of which roles there are, nor which accounts.
    const account = await accountOf(input.RoleArn, context);
    const directory = context.identities.read(account);
    const { token, subject, issuer, audience } = await verifiedIdentity(input.WebIdentityToken, directory, context);
    const asked = { action: 'sts:AssumeRoleWithWebIdentity', token } as const;
    const found = await findRole(input.RoleArn, account, context);
    if (!found || !(await trustedBy(found, input, asked, context)))
      throw new S3Error('AccessDenied', { message: 'Not authorized to perform sts:AssumeRoleWithWebIdentity' });
    return {
      ...(await sessionOf(found, input, context)),
      SubjectFromWebIdentityToken: subject,
      Provider: issuer,
      Audience: audience,
    };
  },
  result: assumedByToken,
});
