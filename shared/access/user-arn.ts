/** Returns the ARN of a user. @param account the number of the project, or its canonical id */
export function userArn(account: string, name: string): string {
  return `arn:aws:iam::${account}:user/${name}`;
}
