import { areOwned, type AddressRange } from './address-ranges.ts';
import { anonymous } from '../identity.ts';
import type { Policy } from './policy-document.ts';
import { isAbout, type NamedPrincipals, type Principals } from './policy-principals.ts';

/** Principals, with or without their ids. */
type Anybody = NamedPrincipals | Principals;

/**
 * Condition keys that restrict a grant to certain callers if their values are fixed. Keys that a client can forge are
 * not among them, nor is the name of a user: every project can have one of that name.
 */
const tying: ReadonlySet<string> = new Set(['aws:sourceip', 'aws:principalarn']);

/**
 * Tells whether a policy is public:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-policy-status
 * Deny statements do not count, as in S3. Ranges of addresses count together, in whichever statements they are.
 */
export function isPublic({ statements }: Policy<Anybody>): boolean {
  const tied = statements
    .filter(({ effect, principals }) => effect === 'Allow' && principals === 'everybody')
    .map(({ conditions }) => conditions.filter(({ key, isRestrictive }) => isRestrictive && tying.has(key)));
  if (tied.some((conditions) => conditions.length === 0)) return true;
  const byAddress = tied.filter((conditions) => conditions.every(({ ranges }) => ranges !== undefined));
  // All conditions of a statement must be met.
  return !areOwned(byAddress.flatMap((conditions) => narrowest(conditions.map(({ ranges }) => ranges!))));
}

/** Tells whether a policy allows anything to anonymous callers, conditionally or not. */
export function allowsAnonymous({ statements }: Policy): boolean {
  return statements.some(({ effect, principals }) => effect === 'Allow' && isAbout(principals, anonymous, effect));
}

/** Returns those of these ranges that have owners, or otherwise all of some. */
function narrowest(alternatives: readonly (readonly AddressRange[])[]): readonly AddressRange[] {
  return alternatives.find(areOwned) ?? alternatives[0]!;
}
