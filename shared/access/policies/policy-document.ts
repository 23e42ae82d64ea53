import type { NamedPrincipals, Principals } from './policy-principals.ts';
import type { Rule } from './policy-rule.ts';

/**
 * A parsed bucket policy: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html
 * `Who` is the type of its principals.
 */
export interface Policy<Who = Principals> {
  readonly statements: readonly Statement<Who>[];
}

/** A policy as parsed: it cannot be evaluated until the ids of the principals it names are known. */
export type NamedPolicy = Policy<NamedPrincipals>;

export interface Statement<Who = Principals> extends Rule {
  readonly principals: Who;
}
