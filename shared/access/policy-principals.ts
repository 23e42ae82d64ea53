import type { Caller } from './identity.ts';
import { malformedPolicy } from './malformed-policy.ts';
import { readStrings } from './policy-strings.ts';
import type { Json } from './strict-json.ts';

/** Somebody whom a policy names: a project with all its users, or one of them. */
export interface Principal {
  /** The project's canonical id, or its e-mail form `project@customer`. */
  readonly project: string;
  /** Absent: every user of the project. */
  readonly user?: string;
  /** As the policy has it. */
  readonly text: string;
}

/** Whom a statement is about. `everybody` includes those who did not say who they are. */
export type Principals = 'everybody' | readonly Principal[];

const arn = /^arn:(?:aws|svc):iam::([^:]*):(root|user\/(.+))$/s;

/**
 * Reads `"*"`, `{"AWS": …}` or `{"CanonicalUser": …}`. Whether the named ones exist is for who sets the policy to find out.
 * @throws S3Error MalformedPolicy
 */
export function readPrincipals(json: Json): Principals {
  if (json === '*') return 'everybody';
  if (!(json instanceof Map) || json.size === 0) throw malformedPolicy('Invalid principal in policy');
  const named = [...(json as ReadonlyMap<string, Json>)].flatMap(([kind, value]) => {
    if (kind !== 'AWS' && kind !== 'CanonicalUser') throw malformedPolicy('Invalid principal in policy', kind);
    return readStrings(value, 'Principal').map((text) => ({ kind, text }));
  });
  if (named.some(({ kind, text }) => kind === 'AWS' && text === '*')) return 'everybody';
  return named.map(({ kind, text }) => (kind === 'AWS' ? readPrincipal(text) : { project: text, text }));
}

function readPrincipal(text: string): Principal {
  const [, account, kind, user] = arn.exec(text) ?? [];
  if (account === undefined) {
    // An id or an e-mail: what looks like an ARN and is none would name nobody.
    if (text === '' || text.startsWith('arn:')) throw malformedPolicy('Invalid principal in policy', text);
    return { project: text, text };
  }
  if (kind === 'root' || user === undefined) {
    if (account === '') throw malformedPolicy('Invalid principal in policy', text);
    return { project: account, text };
  }
  // Without an account it is a user ID in the words of Ceph RGW, and that is a project here.
  return account === '' ? { project: user, text } : { project: account, user, text };
}

/** Whether a statement about these is about the caller. */
export function isAbout(principals: Principals, caller: Caller): boolean {
  if (principals === 'everybody') return true;
  if (caller.kind !== 'user') return false;
  const { project, name } = caller;
  return principals.some(
    (one) =>
      (one.project === project.id || one.project === project.email) && (one.user === undefined || one.user === name),
  );
}
