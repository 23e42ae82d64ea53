/** Policies of buckets and identities: parsing and evaluation. Pure functions, which are given the facts of a request. */
export { identityPolicyParsing, parsePolicy, parseTrustPolicy, policyParsing } from './policy-parse.ts';
export {
  PreparedPolicy,
  resourceOf,
  rulesFor,
  rulesForProvider,
  rulesOfTrust,
  type Grants,
} from './policy-evaluate.ts';
export { allowsAnonymous, isPublic } from './policy-public.ts';
export type { NamedPolicy, Policy, TrustPolicy } from './policy-document.ts';
export {
  boundTo,
  decodePrincipals,
  encodePrincipals,
  existingPrincipals,
  findPrincipals,
  shownPolicy,
} from './policy-identities.ts';
export type { PrincipalIds } from './policy-principals.ts';
