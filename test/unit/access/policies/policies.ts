import { fullRights } from '../../../../shared/access/identity-rights.ts';
import { anonymous, type Caller } from '../../../../shared/access/identity.ts';
import type { Facts } from '../../../../shared/access/policies/policy-template.ts';
import { EventLoopBudget } from '../../../../shared/ports/event-loop.ts';
import {
  boundTo,
  parsePolicy,
  PreparedPolicy,
  resourceOf,
  rulesFor,
  type NamedPolicy,
  type Policy,
} from '../../../../shared/access/policies/policy.ts';

export const bucket = 'photos';

/** Each a user of a project of that name. */
export const callers = {
  alice: userOf('main', 'alice'),
  carol: userOf('main', 'carol'),
  bob: userOf('other', 'bob'),
  nobody: anonymous,
} as const satisfies Readonly<Record<string, Caller>>;

function userOf(project: string, name: string): Caller {
  return {
    kind: 'user',
    id: `id-of-${name}`,
    accessKeyId: `key-of-${name}`,
    name,
    project: { id: `${project}-id`, email: `${project}@example.test`, displayName: project },
    privileges: [],
    rights: fullRights,
  };
}

/** Returns a statement that allows everyone to read every object, changed by `parts`. */
export function statement(parts: object = {}): object {
  return { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*`, ...parts };
}

export function policyText(statements: unknown, rest: object = {}): Buffer {
  return Buffer.from(JSON.stringify({ Version: '2012-10-17', Statement: statements, ...rest }));
}

export function policyOf(...statements: readonly object[]): Policy {
  return bound(parsePolicy(policyText(statements), bucket));
}

/** The policy about those of {@link callers} whom it names. */
export function bound(policy: NamedPolicy): Policy {
  const users = Object.values(callers).filter((one) => one.kind === 'user');
  const named = policy.statements.flatMap(({ principals }) =>
    principals === 'everybody' ? [] : principals.filter((one) => 'text' in one),
  );
  const ids = named.flatMap(({ project: name, one: { name: user } = {}, text }) => {
    const found = users.find(
      (one) => [one.project.id, one.project.email].includes(name) && (user === undefined || user === one.name),
    );
    return found ? [[text, { project: found.project.id, ...(user !== undefined && { user: found.id }) }] as const] : [];
  });
  return boundTo(policy, new Map(ids));
}

export interface Asked {
  readonly caller?: Caller;
  readonly action?: string;
  readonly key?: string | undefined;
  readonly facts?: Readonly<Record<string, readonly string[]>>;
}

/** The owner of {@link bucket}: of no caller's project. */
const owner = 'owner-id';

/** A policy for one request. */
export function prepared(
  policy: Policy,
  caller: Caller,
  budget = new EventLoopBudget(),
): { verdict(asked: { action: string; key?: string; conditions: Facts }): ReturnType<PreparedPolicy['verdict']> } {
  const one = new PreparedPolicy(rulesFor(policy, caller, owner), budget);
  return {
    verdict: ({ action, key, conditions }) =>
      one.verdict({ action, resource: resourceOf(action, bucket, key), conditions }),
  };
}

/** Returns the verdict of a policy on GetObject of `cat.jpg` by bob, unless `asked` differs. */
export async function verdict(policy: Policy, asked: Asked = {}): Promise<'allow' | 'deny' | 'none'> {
  const { caller = callers.bob, action = 'GetObject', facts = {} } = asked;
  const key = 'key' in asked ? asked.key : 'cat.jpg';
  const conditions = (name: string): readonly string[] | undefined => facts[name];
  return prepared(policy, caller).verdict({ action, ...(key !== undefined && { key }), conditions });
}
