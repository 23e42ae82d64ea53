import type { NamedPrincipals, Principals, Trusted } from './policy-principals.ts';
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

/** The trust policy of a role, which says who may assume it. Its statements are about the role alone. */
export interface TrustPolicy<Who = Principals> {
  readonly statements: readonly (Statement<Who> & Pick<Trusted, 'providers'>)[];
}
