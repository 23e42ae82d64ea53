/** Bucket policies: reading them, judging by them. Pure functions; what they must know of a request is handed to them. */
export { parsePolicy } from './policy-parse.ts';
export { evaluatePolicy, type PolicyRequest } from './policy-evaluate.ts';
export { allowsAnonymous, isPublic } from './policy-public.ts';
export type { Policy } from './policy-document.ts';
export type { Principal } from './policy-principals.ts';
