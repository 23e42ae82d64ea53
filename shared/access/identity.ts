/** Who may sign requests. customer (company) → project → user → access keys; the project owns buckets and objects. */

export interface Project {
  /** The canonical id, shown as Owner/ID. A UUID unless it was declared otherwise. */
  readonly id: string;
  /** `project@customer`, the e-mail form. */
  readonly email: string;
  readonly displayName: string;
}

/** An authenticated user of a project. */
export interface User {
  readonly kind: 'user';
  readonly accessKeyId: string;
  readonly name: string;
  readonly project: Project;
}

/** Whoever sent a request. Anonymous callers get only what an ACL or a policy grants to everybody. */
export type Caller = User | { readonly kind: 'anonymous' };

export const anonymous: Caller = { kind: 'anonymous' };

/** What the signature gate needs to know of an access key. */
export interface AccessKey {
  readonly secret: string;
  readonly user: User;
  /** The key, its user, its project or its customer is suspended. */
  readonly suspended: boolean;
}

/** Finds access keys. Implementations may cache for seconds. */
export interface AccessKeys {
  find(accessKeyId: string): Promise<AccessKey | undefined>;
}

/** Finds projects by their canonical id, for the names that answers show. */
export interface Projects {
  project(id: string): Promise<Project | undefined>;
}
