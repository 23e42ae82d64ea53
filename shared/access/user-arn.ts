import type { Project, User } from './identity.ts';

/** Tells whether a user is root of the account. */
export function isRoot({ project, name }: { readonly project: Project; readonly name: string }): boolean {
  return project.root === name;
}

/** Returns the ARN of a user who is not root. @param account the number of the project, or its canonical id */
export function userArn(account: string, { name, path = '/' }: Pick<User, 'name' | 'path'>): string {
  return `arn:aws:iam::${account}:user${path}${name}`;
}

/** Returns the ARN of the root of an account. */
export function rootArn(account: string): string {
  return `arn:aws:iam::${account}:root`;
}

/** Returns the ARN of somebody to whom a user of an account gave a temporary key. */
export function federatedArn(account: string, name: string): string {
  return `arn:aws:sts::${account}:federated-user/${name}`;
}
