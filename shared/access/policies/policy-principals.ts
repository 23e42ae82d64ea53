import { emailOf, userNameParts } from '../account-names.ts';
import type { Caller, PrincipalName, User } from '../identity.ts';
import { malformedPolicy } from './malformed-policy.ts';
import type { Rule } from './policy-rule.ts';
import { readStrings } from './policy-strings.ts';
import type { Json } from './strict-json.ts';

/** A principal as a policy names it: a project with all its users, one user, or one role. */
export interface NamedPrincipal {
  /** The project's canonical id, or its e-mail form `project@customer`. */
  readonly project: string;
  /** The user or role, by its path and name. Absent: every one of the project. */
  readonly one?: PrincipalName;
  /** The text in the policy. */
  readonly text: string;
}

/** A service of AWS as a policy names it. Only those that this service acts as are ever callers. */
export interface NamedService {
  readonly service: string;
}

/** The principals that a statement names. `everybody` includes anonymous callers. */
export type NamedPrincipals = 'everybody' | readonly (NamedPrincipal | NamedService)[];

/** A principal by ids. A later project, user or role of the same name is a different principal. */
export interface Principal {
  /** The canonical id. */
  readonly project: string;
  /** The id of a user or a role. Absent: every one of the project. */
  readonly user?: string;
}

/** The principals that a statement applies to. */
export type Principals = 'everybody' | readonly (Principal | NamedService)[];

/** The principals that the texts of a policy refer to. A text without an entry matches no one. */
export type PrincipalIds = ReadonlyMap<string, Principal>;

const arn = /^arn:(?:aws|svc):iam::([^:]*):(root|(user|role)\/(.+))$/s;
const providerArn = /^arn:aws:iam::\d{12}:oidc-provider\/.+$/;

const serviceName = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.amazonaws\.com$/;

/**
 * Reads `"*"`, `{"AWS": …}`, `{"CanonicalUser": …}` or `{"Service": …}`. `findPrincipals` checks whether the named principals exist.
 * @throws S3Error MalformedPolicy
 */
export function readPrincipals(json: Json): NamedPrincipals {
  return everybodyOr(
    readTexts(json, ['AWS', 'CanonicalUser', 'Service']).map(({ kind, text }) => {
      if (kind === 'Service') return readService(text);
      return kind === 'AWS' ? readPrincipal(text) : { project: text, text };
    }),
  );
}

function readService(text: string): NamedService {
  if (!serviceName.test(text)) throw malformedPolicy('Invalid principal in policy', text);
  return { service: text };
}

/** Whom the trust policy of a role names. */
export interface Trusted {
  readonly principals: NamedPrincipals;
  /** The ARNs of OpenID Connect providers. */
  readonly providers: readonly string[];
}

/**
 * Reads `"*"`, `{"AWS": …}`, `{"Federated": …}` or `{"Service": …}`. Services of AWS, which assume roles for their machines, do not exist here:
 * they may be named, as policies are brought along.
 * @throws S3Error MalformedPolicy
 */
export function readTrusted(json: Json): Trusted {
  const named = readTexts(json, ['AWS', 'Federated', 'Service']);
  const of = (kind: PrincipalType): readonly string[] => named.flatMap((one) => (one.kind === kind ? [one.text] : []));
  const invalid =
    of('Federated').find((text) => !providerArn.test(text)) ?? of('Service').find((text) => !/^[\w.-]+$/.test(text));
  if (invalid !== undefined) throw malformedPolicy('Invalid principal in policy', invalid);
  return { principals: everybodyOr(of('AWS').map(readPrincipal)), providers: of('Federated') };
}

type PrincipalType = 'AWS' | 'CanonicalUser' | 'Federated' | 'Service';

function readTexts(
  json: Json,
  types: readonly PrincipalType[],
): readonly { readonly kind: PrincipalType; readonly text: string }[] {
  if (json === '*') return [{ kind: 'AWS', text: '*' }];
  if (!(json instanceof Map) || json.size === 0) throw malformedPolicy('Invalid principal in policy');
  return [...(json as ReadonlyMap<string, Json>)].flatMap(([name, value]) => {
    const kind = types.find((one) => one === name);
    if (kind === undefined) throw malformedPolicy('Invalid principal in policy', name);
    return readStrings(value, 'Principal').map((text) => ({ kind, text }));
  });
}

function everybodyOr(named: readonly ('everybody' | NamedPrincipal | NamedService)[]): NamedPrincipals {
  const single = named.filter((one) => one !== 'everybody');
  return single.length < named.length ? 'everybody' : single;
}

function readPrincipal(text: string): 'everybody' | NamedPrincipal {
  if (text === '*') return 'everybody';
  const [, account, what, kind, name] = arn.exec(text) ?? [];
  if (account === undefined) {
    // An id, an e-mail address or a user. A malformed ARN would match no one.
    if (text === '' || text.startsWith('arn:')) throw malformedPolicy('Invalid principal in policy', text);
    return { ...readName(text), text };
  }
  if (what === 'root' || name === undefined) {
    if (account === '') throw malformedPolicy('Invalid principal in policy', text);
    return { project: account, text };
  }
  if (account !== '') return { project: account, one: { kind: kind as PrincipalName['kind'], name }, text };
  if (kind === 'role') throw malformedPolicy('Invalid principal in policy', text);
  // Without an account, Ceph RGW means a user ID: here a project, or a user with all three names.
  return { ...readName(name), text };
}

/** Reads a project, or a user in the form that administration uses: `project:user@customer`. */
function readName(text: string): Pick<NamedPrincipal, 'project' | 'one'> {
  const names = userNameParts(text);
  return names ? { project: emailOf(names), one: { kind: 'user', name: names.user } } : { project: text };
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
