import type { Condition } from '../ports/key-value-table.ts';
import type { IdentityPolicy } from './policies/policy-rule.ts';
import type { Session } from './session-tokens.ts';

/**
 * The identities that sign requests: customer (company) → project → user → access keys. The project owns buckets and
 * objects.
 */

export interface Project {
  /** The canonical id, shown as Owner/ID. A UUID unless declared otherwise. */
  readonly id: string;
  /** `project@customer`, the e-mail form. */
  readonly email: string;
  readonly displayName: string;
  /** Its number in ARNs. Undefined: it has not been shown to anybody yet. */
  readonly accountNumber?: string | undefined;
  /** The name of the user who is root of the account. */
  readonly root?: string | undefined;
  /** The maximum number of buckets. Undefined: the deployment's limit applies. */
  readonly bucketQuota?: number | undefined;
}

/** A project that has been shown as an account. */
export interface Account extends Project {
  readonly accountNumber: string;
}

/** Privileges that users have by default and that can be withdrawn from single users. */
export const privileges = ['monitoring'] as const;
export type Privilege = (typeof privileges)[number];

/**
 * The policies of a caller: what it may do of all that its project may. An action needs to be allowed by each of the three sets that is there,
 * by any policy of the set, and to be denied by none:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export interface IdentityRights {
  /** Those of the user, inline and attached, and of the user's groups. */
  readonly policies: readonly IdentityPolicy[];
  /** The permissions boundary. */
  readonly boundary: IdentityPolicy | undefined;
  /** The session policies of temporary credentials. Undefined: as far as the parent's rights; empty: none. */
  readonly session: readonly IdentityPolicy[] | undefined;
  /** Set for a role: its boundary limits also what the policy of a bucket allows to it by name. */
  readonly isOfRole?: true;
}

/** The role of a caller who has assumed one. */
interface AssumedRole {
  readonly name: string;
  readonly path: string;
}

/** What a request states of its access key. */
export interface Credential {
  readonly accessKeyId: string;
  /** Makes a temporary key known: session-tokens.ts. */
  readonly sessionToken?: string | undefined;
}

/** An authenticated user of a project, or whoever has assumed one of its roles. */
export interface User extends Credential {
  readonly kind: 'user';
  /** Unique: never given to a later user, or role, of the same name. */
  readonly id: string;
  /** Set if the key is temporary. */
  readonly session?: Session | undefined;
  readonly role?: AssumedRole | undefined;
  /** Of a role `assumed-role/<role>/<session>`, which no user is called. */
  readonly name: string;
  /** Where the name is in ARNs. Undefined: `/`. */
  readonly path?: string | undefined;
  readonly project: Project;
  readonly privileges: readonly Privilege[];
  /** What the user may do of all that the project may. */
  readonly rights: IdentityRights;
}

/** A part of this service that acts for a bucket. It gets only what an ACL or a policy grants to it by name. */
interface ServicePrincipal {
  readonly kind: 'service';
  /** As policies name it. */
  readonly name: typeof logDelivery;
  /** The ARN of the bucket for which it acts. */
  readonly sourceArn: string;
  /** The project that owns that bucket. */
  readonly sourceAccount: Project;
}

/** The service principal that delivers access logs: https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html */
export const logDelivery = 'logging.s3.amazonaws.com';

/** The sender of a request. Anonymous callers get only what an ACL or a policy grants to everyone. */
export type Caller = User | ServicePrincipal | { readonly kind: 'anonymous' };

export const anonymous: Caller = { kind: 'anonymous' };

/** An access key with what authentication needs to know. */
export interface AccessKey {
  readonly secret: string;
  readonly user: User;
  /** The key, its user, its project or its customer is suspended. */
  readonly suspended: boolean;
  /**
   * Conditions that fail if any of this has changed since it was read, for commits that depend on the caller's current
   * rights.
   */
  readonly unchanged: readonly Condition[];
}

/** Finds access keys. */
export interface AccessKeys {
  /**
   * @param freshness `cached`: looked up within the last seconds; `read`: current
   * @param sessionToken of a temporary key, which is not found without
   * @throws S3Error InvalidToken, ExpiredToken
   */
  find(accessKeyId: string, freshness?: 'cached' | 'read', sessionToken?: string): Promise<AccessKey | undefined>;
}

/** A user or a role of a project, by its path and name. */
export interface PrincipalName {
  readonly kind: 'user' | 'role';
  readonly name: string;
}

/** Finds projects, for the names shown in responses and for the grantees named in requests. */
export interface Projects {
  project(id: string): Promise<Project | undefined>;
  /** By the e-mail form, `project@customer`. */
  byEmail(email: string): Promise<Project | undefined>;
  /** By the account number. */
  byNumber(number: string): Promise<Project | undefined>;
  /** Returns a project with its account number: it gets one if it has none yet. */
  account(project: Project): Promise<Account>;
  /** Returns the id of a user or role of a project, by its path and name, if there is one. */
  principalId(project: string, named: PrincipalName): Promise<string | undefined>;
}
