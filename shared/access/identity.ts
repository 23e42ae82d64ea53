import type { Condition } from '../ports/key-value-table.ts';

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
  /** The maximum number of buckets. Undefined: the deployment's limit applies. */
  readonly bucketQuota?: number | undefined;
}

/** Privileges that users have by default and that can be withdrawn from single users. */
export const privileges = ['monitoring'] as const;
export type Privilege = (typeof privileges)[number];

/** An authenticated user of a project. */
export interface User {
  readonly kind: 'user';
  /** Unique: never given to a later user of the same name. */
  readonly id: string;
  readonly accessKeyId: string;
  readonly name: string;
  readonly project: Project;
  readonly privileges: readonly Privilege[];
}

/** The sender of a request. Anonymous callers get only what an ACL or a policy grants to everyone. */
export type Caller = User | { readonly kind: 'anonymous' };

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
  /** @param freshness `cached`: looked up within the last seconds; `read`: current */
  find(accessKeyId: string, freshness?: 'cached' | 'read'): Promise<AccessKey | undefined>;
}

/** Finds projects, for the names shown in responses and for the grantees named in requests. */
export interface Projects {
  project(id: string): Promise<Project | undefined>;
  /** By the e-mail form, `project@customer`. */
  byEmail(email: string): Promise<Project | undefined>;
  /** Returns the id of the project's user with this name, if there is one. */
  userId(project: string, name: string): Promise<string | undefined>;
}
