import { anonymous } from './identity.ts';
import type { Policy, Statement } from './policy-document.ts';
import { isAbout, type NamedPrincipals, type Principals } from './policy-principals.ts';

/** Principals, with or without their ids. */
type Anybody = NamedPrincipals | Principals;

/**
 * Condition keys that restrict a grant to certain callers if their values are fixed. Keys that a client can forge are
 * not among them.
 */
const tying: ReadonlySet<string> = new Set(['aws:sourceip', 'aws:principalarn', 'aws:username']);

/**
 * Tells whether a policy is public:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-policy-status
 * Deny statements do not count, as in S3.
 */
export function isPublic({ statements }: Policy<Anybody>): boolean {
  return statements.some(isForEverybody);
}

/** Tells whether a policy allows anything to anonymous callers, conditionally or not. */
export function allowsAnonymous({ statements }: Policy): boolean {
  return statements.some(({ effect, principals }) => effect === 'Allow' && isAbout(principals, anonymous));
}

function isForEverybody({ effect, principals, conditions }: Statement<Anybody>): boolean {
  if (effect !== 'Allow' || principals !== 'everybody') return false;
  return !conditions.some(({ key, isRestrictive }) => isRestrictive && tying.has(key));
}
