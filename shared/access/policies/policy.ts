/** Policies of buckets and identities: parsing and evaluation. Pure functions, which are given the facts of a request. */
export { identityPolicyParsing, parsePolicy, policyParsing } from './policy-parse.ts';
export { PreparedPolicy, resourceOf, rulesFor, type Grants } from './policy-evaluate.ts';
export { allowsAnonymous, isPublic } from './policy-public.ts';
export type { NamedPolicy, Policy } from './policy-document.ts';
export { boundTo, findPrincipals, namedIn, shownPolicy } from './policy-identities.ts';
export type { Principal, PrincipalIds } from './policy-principals.ts';
