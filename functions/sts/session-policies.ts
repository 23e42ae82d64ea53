import { parseIdentityPolicy } from '../../shared/access/identity-rights.ts';
import type { Account } from '../../shared/access/identity.ts';
import type { Identities } from '../../shared/accounts/identities.ts';
import { invalid } from '../../shared/protocol/query-api/action-form.ts';
import { list, optional, structure, text } from '../../shared/protocol/query-api/parameters.ts';

/** The parameters that limit a temporary key. */
export const limiting = {
  Policy: optional(text({ least: 1, most: 2048 })),
  PolicyArns: list(structure({ arn: text({ least: 20, most: 2048 }) }), 10),
};

export interface Limiting {
  readonly Policy: string | undefined;
  readonly PolicyArns: readonly { readonly arn: string }[];
}

/**
 * Returns the policies of a session: the managed ones as they are now.
 * @throws S3Error MalformedPolicy, ValidationError
 */
export async function sessionPolicies(
  { Policy, PolicyArns }: Limiting,
  account: Account,
  identities: Identities,
): Promise<readonly string[]> {
  if (Policy !== undefined) parseIdentityPolicy(Policy);
  const directory = identities.read(account);
  const managed = await Promise.all(
    PolicyArns.map(async ({ arn }) => {
      const policy = await directory.policy({ arn });
      if (policy === undefined) throw invalid(`The policy ${arn} does not exist.`);
      return policy.versions[policy.inForce]!.text;
    }),
  );
  return [...(Policy === undefined ? [] : [Policy]), ...managed];
}
