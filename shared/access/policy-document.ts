import type { Condition } from './policy-conditions.ts';
import type { Principals } from './policy-principals.ts';
import type { Template } from './policy-template.ts';

/** The policy of a bucket, understood: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html */
export interface Policy {
  readonly statements: readonly Statement[];
}

export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly principals: Principals;
  /** The actions it is about, by their own names; wildcards and NotAction have been worked out. */
  readonly actions: ReadonlySet<string>;
  /** `bucket` or `bucket/key`, as patterns. */
  readonly resources: readonly Template[];
  /** Whether it is about every resource but these. */
  readonly otherResources: boolean;
  /** All must be met. */
  readonly conditions: readonly Condition[];
}
