import type { Condition } from './policy-conditions.ts';
import type { NamedPrincipals, Principals } from './policy-principals.ts';
import type { Template } from './policy-template.ts';

/**
 * A parsed bucket policy: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html
 * `Who` is the type of its principals.
 */
export interface Policy<Who = Principals> {
  readonly statements: readonly Statement<Who>[];
}

/** A policy as parsed: it cannot be evaluated until the ids of the principals it names are known. */
export type NamedPolicy = Policy<NamedPrincipals>;

export interface Statement<Who = Principals> {
  readonly effect: 'Allow' | 'Deny';
  readonly principals: Who;
  /** The actions it applies to; wildcards and NotAction are already resolved. */
  readonly actions: ReadonlySet<string>;
  /** `bucket` or `bucket/key` patterns. */
  readonly resources: readonly Template[];
  /** True if the statement applies to every resource except these (NotResource). */
  readonly otherResources: boolean;
  /** All of them must be met. */
  readonly conditions: readonly Condition[];
}
