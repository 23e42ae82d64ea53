import { emailOf, userNameParts } from '../account-names.ts';
import type { Caller, User } from '../identity.ts';
import { malformedPolicy } from './malformed-policy.ts';
import type { Rule } from './policy-rule.ts';
import { readStrings } from './policy-strings.ts';
import type { Json } from './strict-json.ts';

/** A principal as a policy names it: a project with all its users, or one user. */
export interface NamedPrincipal {
  /** The project's canonical id, or its e-mail form `project@customer`. */
  readonly project: string;
  /** The name of a user. Absent: every user of the project. */
  readonly user?: string;
  /** The text in the policy. */
  readonly text: string;
}

/** A service of AWS as a policy names it. Only those that this service acts as are ever callers. */
export interface NamedService {
  readonly service: string;
}

/** The principals that a statement names. `everybody` includes anonymous callers. */
export type NamedPrincipals = 'everybody' | readonly (NamedPrincipal | NamedService)[];

/** A principal by ids. A later project or user of the same name is a different principal. */
export interface Principal {
  /** The canonical id. */
  readonly project: string;
  /** The id of a user. Absent: every user of the project. */
  readonly user?: string;
}

/** The principals that a statement applies to. */
export type Principals = 'everybody' | readonly (Principal | NamedService)[];

/** The principals that the texts of a policy refer to. A text without an entry matches no one. */
export type PrincipalIds = ReadonlyMap<string, Principal>;

const arn = /^arn:(?:aws|svc):iam::([^:]*):(root|user\/(.+))$/s;

const serviceName = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.amazonaws\.com$/;

/**
 * Reads `"*"`, `{"AWS": …}`, `{"CanonicalUser": …}` or `{"Service": …}`. `findPrincipals` checks whether the named principals exist.
 * @throws S3Error MalformedPolicy
 */
export function readPrincipals(json: Json): NamedPrincipals {
  if (json === '*') return 'everybody';
  if (!(json instanceof Map) || json.size === 0) throw malformedPolicy('Invalid principal in policy');
  const named = [...(json as ReadonlyMap<string, Json>)].flatMap(([kind, value]) => {
    if (kind !== 'AWS' && kind !== 'CanonicalUser' && kind !== 'Service') {
      throw malformedPolicy('Invalid principal in policy', kind);
    }
    return readStrings(value, 'Principal').map((text) => ({ kind, text }));
  });
  if (named.some(({ kind, text }) => kind === 'AWS' && text === '*')) return 'everybody';
  return named.map(({ kind, text }) => {
    if (kind === 'Service') return readService(text);
    return kind === 'AWS' ? readPrincipal(text) : { project: text, text };
  });
}

function readService(text: string): NamedService {
  if (!serviceName.test(text)) throw malformedPolicy('Invalid principal in policy', text);
  return { service: text };
}

function readPrincipal(text: string): NamedPrincipal {
  const [, account, kind, user] = arn.exec(text) ?? [];
  if (account === undefined) {
    // An id, an e-mail address or a user. A malformed ARN would match no one.
    if (text === '' || text.startsWith('arn:')) throw malformedPolicy('Invalid principal in policy', text);
    return { ...readName(text), text };
  }
  if (kind === 'root' || user === undefined) {
    if (account === '') throw malformedPolicy('Invalid principal in policy', text);
    return { project: account, text };
  }
  // Without an account, Ceph RGW means a user ID: here a project, or a user with all three names.
  return account === '' ? { ...readName(user), text } : { project: account, user, text };
}

/** Reads a project, or a user in the form that administration uses: `project:user@customer`. */
function readName(text: string): Pick<NamedPrincipal, 'project' | 'user'> {
  const names = userNameParts(text);
  return names ? { project: emailOf(names), user: names.user } : { project: text };
}

/** Tells whether the principals of a statement include the caller. A service is allowed nothing unless it is named. */
export function isAbout(principals: Principals, caller: Caller, effect: Rule['effect']): boolean {
  if (principals === 'everybody') return caller.kind !== 'service' || effect === 'Deny';
  return principals.some((principal) => {
    if ('service' in principal) return caller.kind === 'service' && principal.service === caller.name;
    if (caller.kind !== 'user' || principal.project !== caller.project.id) return false;
    return principal.user === undefined || principal.user === caller.id;
  });
}

/** Tells whether the principals include the caller by name: not only as one of a project or of everybody. */
export function isNamed(principals: Principals, caller: User): boolean {
  return principals !== 'everybody' && principals.some((one) => 'user' in one && one.user === caller.id);
}
