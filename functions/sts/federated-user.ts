/** Returns the ARN of somebody to whom a user of an account gave a temporary key. */
export function federatedArn(account: string, name: string): string {
  return `arn:aws:sts::${account}:federated-user/${name}`;
}

/** Returns the id of the same. */
export function federatedId(account: string, name: string): string {
  return `${account}:${name}`;
}
