import { sessionName } from '../../shared/access/user-arn.ts';

/** Returns the id of whoever has assumed a role. @param role its id */
export function assumedRoleId(role: string, session: string): string {
  return `${role}:${session}`;
}

/** Returns the ARN of the same. @param role its name */
export function assumedRoleArn(account: string, role: string, session: string): string {
  return `arn:aws:sts::${account}:${sessionName(role, session)}`;
}
