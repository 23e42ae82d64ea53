import type { EventLoopBudget } from '../ports/event-loop.ts';
import { atOnce } from '../ports/event-loop.ts';
import type { IdentityRights } from './identity.ts';
import { levelOf } from './policies/policy-actions.ts';
import { bucketArn } from './policies/policy-resources.ts';
import type { IdentityPolicy } from './policies/policy-rule.ts';
import { identityPolicyParsing, PreparedPolicy, resourceOf } from './policies/policy.ts';
import type { PolicyQuestion } from './policies/policy-evaluate.ts';

/**
 * What policies say about an action. `full`: this one and every other of S3 and of Stillage's own, on every resource. `limited`: the boundary
 * allows none of it, which leaves what the policy of a bucket allows to the user by name.
 */
export type IdentityVerdict = 'full' | 'allow' | 'none' | 'limited' | 'deny';

/** The text of the managed policy `FullAccess`, which users have unless others are attached. It leaves IAM, roles and CloudTrail to others. */
export const fullAccessText = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:*', 'stillage:*', 'sts:GetFederationToken'], Resource: '*' }],
});

export const fullAccess = parseIdentityPolicy(fullAccessText);

/** The rights of a user with `FullAccess` and nothing else. */
export const fullRights: IdentityRights = { policies: [fullAccess], boundary: undefined, session: undefined };

/** What the root of an account may do besides. */
export const rootAccess = parseIdentityPolicy(
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: ['iam:*', 'sts:*', 'cloudtrail:*'], Resource: '*' }],
  }),
);

/** The rights of the root of an account, unless they are limited. */
export const rootRights: IdentityRights = { ...fullRights, policies: [fullAccess, rootAccess] };

/** Parses an identity's policy of limited length, in one go. @throws S3Error MalformedPolicy */
export function parseIdentityPolicy(text: string): IdentityPolicy {
  return atOnce(identityPolicyParsing(Buffer.from(text)));
}

/** Tells whether two callers have the same policies, as far as that can be told from their being the same objects. */
export function hasSamePolicies(some: IdentityRights, others: IdentityRights): boolean {
  if (some === others) return true;
  const sets = ({ policies, boundary, session }: IdentityRights): readonly unknown[] => [
    ...policies,
    '',
    boundary,
    session && '',
    ...(session ?? []),
  ];
  const [one, other] = [sets(some), sets(others)];
  return one.length === other.length && one.every((policy, at) => policy === other[at]);
}

/** The rights of a caller, prepared for the questions of one request. */
export class PreparedRights {
  readonly #isFull: boolean;
  readonly #rights: IdentityRights;
  readonly #budget: EventLoopBudget;
  #sets: readonly PreparedPolicy[] | undefined;

  /** @param budget of all questions */
  constructor(rights: IdentityRights, budget: EventLoopBudget) {
    const { policies, boundary, session } = rights;
    this.#rights = rights;
    this.#budget = budget;
    const isPlain = policies.length === (policies[1] === rootAccess ? 2 : 1) && policies[0] === fullAccess;
    this.#isFull = boundary === undefined && session === undefined && isPlain;
  }

  /**
   * Evaluates the rights. What session policies do not allow is denied, whatever the policy of a bucket allows to their parent, and so is to a
   * role, or a session with policies, what the boundary does not allow.
   * @param question returns the question. Not called for users with full access, who are most
   */
  verdict(action: string, question: () => PolicyQuestion): IdentityVerdict | Promise<IdentityVerdict> {
    if (this.#isFull && !action.includes(':')) return 'full';
    return this.#evaluate(question());
  }

  async #evaluate(question: PolicyQuestion): Promise<IdentityVerdict> {
    const verdicts: ('allow' | 'none' | 'deny')[] = [];
    this.#sets ??= this.#prepared();
    for (const set of this.#sets) verdicts.push(await set.verdict(question));
    if (verdicts.includes('deny')) return 'deny';
    const [own, ...limits] = verdicts;
    if (limits.every((one) => one === 'allow')) return own!;
    const { session, isOfRole } = this.#rights;
    return session === undefined && !isOfRole ? 'limited' : 'deny';
  }

  #prepared(): readonly PreparedPolicy[] {
    const { policies, boundary, session } = this.#rights;
    const sets = [policies, ...(boundary ? [[boundary]] : []), ...(session ? [session] : [])];
    return sets.map((set) => {
      const rules = set.flatMap(({ statements }) => statements);
      return new PreparedPolicy(rules, this.#budget);
    });
  }
}

/** Returns the ARN of what an action of S3 or of Stillage's own is about: of `arn:aws:s3:::` alone if it is about the service. */
export function arnOf(action: string, bucket = '', key?: string): string {
  return bucketArn + (levelOf(action) === 'service' ? '' : resourceOf(action, bucket, key));
}
