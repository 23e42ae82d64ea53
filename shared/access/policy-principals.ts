import { emailOf, userNameParts } from './account-names.ts';
import type { Caller } from './identity.ts';
import { malformedPolicy } from './malformed-policy.ts';
import { readStrings } from './policy-strings.ts';
import type { Json } from './strict-json.ts';

/** Somebody whom a policy names: a project with all its users, or one of them. */
export interface NamedPrincipal {
  /** The project's canonical id, or its e-mail form `project@customer`. */
  readonly project: string;
  /** The name of a user; absent: every user of the project. */
  readonly user?: string;
  /** As the policy has it. */
  readonly text: string;
}

/** Whom a statement names. `everybody` includes those who did not say who they are. */
export type NamedPrincipals = 'everybody' | readonly NamedPrincipal[];

/** Somebody whom a policy is about, by ids: whoever is given the same names later is somebody else. */
export interface Principal {
  /** The canonical id. */
  readonly project: string;
  /** The id of a user; absent: every user of the project. */
  readonly user?: string;
}

/** Whom a statement is about. */
export type Principals = 'everybody' | readonly Principal[];

/** Who is meant by the texts of a policy. One that is missing means nobody. */
export type PrincipalIds = ReadonlyMap<string, Principal>;

const arn = /^arn:(?:aws|svc):iam::([^:]*):(root|user\/(.+))$/s;

/**
 * Reads `"*"`, `{"AWS": …}` or `{"CanonicalUser": …}`. Whether the named ones exist is for `findPrincipals` to tell.
 * @throws S3Error MalformedPolicy
 */
export function readPrincipals(json: Json): NamedPrincipals {
  if (json === '*') return 'everybody';
  if (!(json instanceof Map) || json.size === 0) throw malformedPolicy('Invalid principal in policy');
  const named = [...(json as ReadonlyMap<string, Json>)].flatMap(([kind, value]) => {
    if (kind !== 'AWS' && kind !== 'CanonicalUser') throw malformedPolicy('Invalid principal in policy', kind);
    return readStrings(value, 'Principal').map((text) => ({ kind, text }));
  });
  if (named.some(({ kind, text }) => kind === 'AWS' && text === '*')) return 'everybody';
  return named.map(({ kind, text }) => (kind === 'AWS' ? readPrincipal(text) : { project: text, text }));
}

function readPrincipal(text: string): NamedPrincipal {
  const [, account, kind, user] = arn.exec(text) ?? [];
  if (account === undefined) {
    // An id, an e-mail or a user: what looks like an ARN and is none would name nobody.
    if (text === '' || text.startsWith('arn:')) throw malformedPolicy('Invalid principal in policy', text);
    return { ...readName(text), text };
  }
  if (kind === 'root' || user === undefined) {
    if (account === '') throw malformedPolicy('Invalid principal in policy', text);
    return { project: account, text };
  }
  // Without an account it is a user ID in the words of Ceph RGW, and that is a project here, or a user by all three names.
  return account === '' ? { ...readName(user), text } : { project: account, user, text };
}

/** A project, or a user as administration names one: `project:user@customer`. */
function readName(text: string): Pick<NamedPrincipal, 'project' | 'user'> {
  const names = userNameParts(text);
  return names ? { project: emailOf(names), user: names.user } : { project: text };
}

/** Whether a statement about these is about the caller. */
export function isAbout(principals: Principals, caller: Caller): boolean {
  if (principals === 'everybody') return true;
  if (caller.kind !== 'user') return false;
  return principals.some(
    ({ project, user }) => project === caller.project.id && (user === undefined || user === caller.id),
  );
}
