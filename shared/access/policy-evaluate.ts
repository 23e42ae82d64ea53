import type { Caller } from './identity.ts';
import { policyActions } from './policy-actions.ts';
import type { Policy, Statement } from './policy-document.ts';
import { isAbout } from './policy-principals.ts';
import { fillTemplates, type Facts } from './policy-template.ts';
import { codePoints, matchingPatterns, type Pattern } from './wildcard.ts';

/** What is to be done, by whom. */
export interface PolicyRequest {
  readonly caller: Caller;
  /** Without its namespace: `GetObject`. */
  readonly action: string;
  readonly bucket: string;
  /** Must be there if the action is about an object. */
  readonly key?: string;
  /**
   * What is known of a condition key, which comes in lower case: `aws:sourceip`, `s3:existingobjecttag/Team`. Asked only if
   * everything else of a statement matches, so that it may be costly.
   */
  readonly conditions: Facts;
}

/**
 * What a policy says: `deny` if any statement denies, else `allow` if any allows, else `none`, and others decide.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export async function evaluatePolicy(policy: Policy, request: PolicyRequest): Promise<'allow' | 'deny' | 'none'> {
  const resource = codePoints(resourceOf(request));
  for (const effect of ['Deny', 'Allow'] as const) {
    for (const statement of policy.statements) {
      if (statement.effect !== effect || !(await matches(statement, resource, request))) continue;
      return effect === 'Deny' ? 'deny' : 'allow';
    }
  }
  return 'none';
}

/** What is done to a bucket never matches a resource in it, nor the other way round. */
function resourceOf({ action, bucket, key }: PolicyRequest): string {
  return policyActions.get(action) === 'object' ? `${bucket}/${key ?? ''}` : bucket;
}

async function matches(statement: Statement, resource: Pattern, request: PolicyRequest): Promise<boolean> {
  if (!isAbout(statement.principals, request.caller) || !statement.actions.has(request.action)) return false;
  if ((await matchesResource(statement, resource, request.conditions)) === statement.otherResources) return false;
  for (const condition of statement.conditions) if (!(await condition.isMet(request.conditions))) return false;
  return true;
}

async function matchesResource({ resources }: Statement, resource: Pattern, facts: Facts): Promise<boolean> {
  return matchingPatterns(await fillTemplates(resources, facts, resource.length), resource).size > 0;
}
