import type { Condition } from './policy-conditions.ts';
import type { NamedPrincipals, Principals } from './policy-principals.ts';
import type { Template } from './policy-template.ts';

/**
 * The policy of a bucket, understood: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html
 * `Who` is whom its statements are about.
 */
export interface Policy<Who = Principals> {
  readonly statements: readonly Statement<Who>[];
}

/** A policy as it was read: nobody can be judged by it until it is known who is meant by its names. */
export type NamedPolicy = Policy<NamedPrincipals>;

export interface Statement<Who = Principals> {
  readonly effect: 'Allow' | 'Deny';
  readonly principals: Who;
  /** The actions it is about, by their own names; wildcards and NotAction have been worked out. */
  readonly actions: ReadonlySet<string>;
  /** `bucket` or `bucket/key`, as patterns. */
  readonly resources: readonly Template[];
  /** Whether it is about every resource but these. */
  readonly otherResources: boolean;
  /** All must be met. */
  readonly conditions: readonly Condition[];
}
