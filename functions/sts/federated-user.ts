import type { Project } from '../../shared/access/identity.ts';

/** Returns the ARN of somebody to whom a user of the project gave a temporary key. */
export function federatedArn({ id }: Project, name: string): string {
  return `arn:aws:sts::${id}:federated-user/${name}`;
}

/** Returns the id of the same. */
export function federatedId({ id }: Project, name: string): string {
  return `${id}:${name}`;
}
