import { anonymous } from './identity.ts';
import type { Policy, Statement } from './policy-document.ts';
import { isAbout, type NamedPrincipals, type Principals } from './policy-principals.ts';

/** Whether its names are known does not matter. */
type Anybody = NamedPrincipals | Principals;

/** Condition keys that tie a grant to somebody, if their values are fixed. What a client can make up is not among them. */
const tying: ReadonlySet<string> = new Set(['aws:sourceip', 'aws:principalarn', 'aws:username']);

/**
 * Whether a policy allows anything to everybody:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-policy-status
 * What it denies besides does not count, as in S3.
 */
export function isPublic({ statements }: Policy<Anybody>): boolean {
  return statements.some(isForEverybody);
}

/** Whether a policy allows anything to callers without credentials, be it on conditions. */
export function allowsAnonymous({ statements }: Policy): boolean {
  return statements.some(({ effect, principals }) => effect === 'Allow' && isAbout(principals, anonymous));
}

function isForEverybody({ effect, principals, conditions }: Statement<Anybody>): boolean {
  if (effect !== 'Allow' || principals !== 'everybody') return false;
  return !conditions.some(({ key, isRestrictive }) => isRestrictive && tying.has(key));
}
