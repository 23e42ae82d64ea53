/** Returns the id of the same. */
export function federatedId(account: string, name: string): string {
  return `${account}:${name}`;
}
