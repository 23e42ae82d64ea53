import type { Condition } from '../ports/key-value-table.ts';

/** Who may sign requests. customer (company) → project → user → access keys; the project owns buckets and objects. */

export interface Project {
  /** The canonical id, shown as Owner/ID. A UUID unless it was declared otherwise. */
  readonly id: string;
  /** `project@customer`, the e-mail form. */
  readonly email: string;
  readonly displayName: string;
  /** How many buckets it may have; undefined: as many as the deployment's limit says. */
  readonly bucketQuota?: number | undefined;
}

/** What users may do by default, and single ones may be kept from. */
export const privileges = ['monitoring'] as const;
export type Privilege = (typeof privileges)[number];

/** An authenticated user of a project. */
export interface User {
  readonly kind: 'user';
  /** Nobody gets it who is given the same name later. */
  readonly id: string;
  readonly accessKeyId: string;
  readonly name: string;
  readonly project: Project;
  readonly privileges: readonly Privilege[];
}

/** Whoever sent a request. Anonymous callers get only what an ACL or a policy grants to everybody. */
export type Caller = User | { readonly kind: 'anonymous' };

export const anonymous: Caller = { kind: 'anonymous' };

/** What authentication needs to know of an access key. */
export interface AccessKey {
  readonly secret: string;
  readonly user: User;
  /** The key, its user, its project or its customer is suspended. */
  readonly suspended: boolean;
  /** That nothing of this has changed since it was read: for a commit that must be the caller's right at that instant. */
  readonly unchanged: readonly Condition[];
}

/** Finds access keys. */
export interface AccessKeys {
  /** @param freshness `cached`: as looked up within seconds; `read`: as it is now */
  find(accessKeyId: string, freshness?: 'cached' | 'read'): Promise<AccessKey | undefined>;
}

/** Finds projects, for the names that answers show and for the grantees that requests name. */
export interface Projects {
  project(id: string): Promise<Project | undefined>;
  /** By the e-mail form, `project@customer`. */
  byEmail(email: string): Promise<Project | undefined>;
  /** The id of the user of a project who has this name, if one has. */
  userId(project: string, name: string): Promise<string | undefined>;
}
