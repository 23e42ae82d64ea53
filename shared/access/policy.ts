/** Bucket policies: reading them, judging by them. Pure functions; what they must know of a request is handed to them. */
export { parsePolicy } from './policy-parse.ts';
export { PreparedPolicy } from './policy-evaluate.ts';
export { allowsAnonymous, isPublic } from './policy-public.ts';
export type { NamedPolicy, Policy } from './policy-document.ts';
export { boundTo, findPrincipals, namedIn, shownPolicy } from './policy-identities.ts';
export type { Principal, PrincipalIds } from './policy-principals.ts';
