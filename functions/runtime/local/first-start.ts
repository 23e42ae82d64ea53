import { randomUUID } from 'node:crypto';
import type { Accounts } from '../../../shared/metadata/accounts/accounts.ts';
import { randomKeyId, randomSecret } from '../../../shared/metadata/accounts/key-administration.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { itemKey } from '../../../shared/metadata/keys.ts';

/** What a person needs to use the key that the first start made. */
export interface FirstKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const initialised = itemKey.deployment('initialised');

/**
 * Makes sure that somebody can use the service: in a new data directory without declared accounts there is a project of its
 * own with a random key.
 * @param show is given the key, if one was made, before it is noted that there is one: so it is shown at least once
 */
export async function ensureFirstKey(
  { table, accounts, randomness }: { table: KeyValueTable; accounts: Accounts; randomness: Randomness },
  areDeclared: boolean,
  show: (key: FirstKey) => void,
): Promise<void> {
  if ((await table.get(initialised)) !== undefined) return;
  if (!areDeclared) {
    const key = { accessKeyId: randomKeyId(randomness), secretAccessKey: randomSecret(randomness) };
    await accounts.ensure({
      project: 'main@local',
      id: randomUUID(),
      displayName: 'main',
      users: [{ name: 'admin', keys: [key] }],
    });
    show(key);
  }
  await table.write([{ key: initialised, put: { done: true } }]);
}

/** Settings to paste, for people. */
export function clientSettings(key: FirstKey, url: string, region: string): string {
  return `
A project, a user and an access key were made. The secret is shown this once:

  export AWS_ACCESS_KEY_ID=${key.accessKeyId}
  export AWS_SECRET_ACCESS_KEY=${key.secretAccessKey}
  export AWS_DEFAULT_REGION=${region}
  export AWS_ENDPOINT_URL=${url}

Then, for example:

  aws s3 mb s3://first-bucket && echo hello | aws s3 cp - s3://first-bucket/hello.txt

`;
}
