import type { Condition } from './policy-conditions.ts';
import type { Template } from './policy-template.ts';

/** A parsed policy of an identity: a user, a group, a role or a session. It speaks of its bearer alone. */
export interface IdentityPolicy {
  readonly statements: readonly Rule[];
}

/** A statement without those to whom it applies. */
export interface Rule {
  readonly effect: 'Allow' | 'Deny';
  /** The actions it applies to; wildcards and NotAction are already resolved. */
  readonly actions: ReadonlySet<string>;
  /** Patterns: of `bucket` or `bucket/key` in the policy of a bucket, otherwise of ARNs. */
  readonly resources: readonly Template[];
  /** True if the statement applies to every resource except these (NotResource). */
  readonly otherResources: boolean;
  /** All of them must be met. */
  readonly conditions: readonly Condition[];
}
