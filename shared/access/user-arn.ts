import type { Project, User } from './identity.ts';

/** Who is called what. */
export type Named = Pick<User, 'project' | 'name' | 'path' | 'role'>;

/** Tells whether a user is root of the account. */
export function isRoot({ project, name, role }: { readonly project: Project } & Pick<User, 'name' | 'role'>): boolean {
  return role === undefined && project.root === name;
}

/** Returns the ARN of a user who is not root, or of a caller's role. @param account the number of the project, or its canonical id */
export function principalArn(account: string, { name, path = '/', role }: Named): string {
  return `arn:aws:iam::${account}:${role ? `role${role.path}${role.name}` : `user${path}${name}`}`;
}

/** Returns the ARN of the root of an account. */
export function rootArn(account: string): string {
  return `arn:aws:iam::${account}:root`;
}

/** Returns the ARN of somebody to whom a user of an account gave a temporary key. */
export function federatedArn(account: string, name: string): string {
  return `arn:aws:sts::${account}:federated-user/${name}`;
}

/** Returns the ARN under which a caller acts: of a role it is that of the session. */
export function actingArn(account: string, caller: Named): string {
  if (caller.role) return `arn:aws:sts::${account}:${caller.name}`;
  return isRoot(caller) ? rootArn(account) : principalArn(account, caller);
}

/** Returns the name that a caller has who has assumed a role. */
export function sessionName(role: string, session: string): string {
  return `assumed-role/${role}/${session}`;
}
