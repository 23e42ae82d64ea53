import type { Accounts } from '../../../shared/metadata/accounts/accounts.ts';
import { randomKeyId, randomSecret } from '../../../shared/metadata/accounts/key-administration.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { itemKey } from '../../../shared/metadata/table/keys.ts';
import { firstProject, firstProjectOf } from './initial-key.ts';

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
 * @returns whether this was the first start
 */
export async function ensureFirstKey(
  { table, accounts, randomness }: { table: KeyValueTable; accounts: Accounts; randomness: Randomness },
  areDeclared: boolean,
  show: (key: FirstKey) => void,
): Promise<boolean> {
  if ((await table.get(initialised)) !== undefined) return false;
  if (!areDeclared) {
    const key = { accessKeyId: randomKeyId(randomness), secretAccessKey: randomSecret(randomness) };
    await accounts.ensure(await firstProjectOf(accounts, [key]));
    show(key);
  }
  await table.write([{ key: initialised, put: { done: true } }]);
  return true;
}

/** For people who start a service that has its keys already. */
export function whereKeysAre(data: string): string {
  return `To see its keys: stillage key list ${firstProject} --data ${data}; to use one: stillage env <key id> --data ${data}\n`;
}

/** Settings to paste, for people. */
export function clientSettings(key: FirstKey, url: string, region: string): string {
  return `
A project, a user and an access key were made. To see them again: stillage env ${key.accessKeyId}

  export AWS_ACCESS_KEY_ID=${key.accessKeyId}
  export AWS_SECRET_ACCESS_KEY=${key.secretAccessKey}
  export AWS_REGION=${region}
  export AWS_DEFAULT_REGION=${region}
  export AWS_ENDPOINT_URL=${url}

Then, for example:

  aws s3 mb s3://first-bucket && echo hello | aws s3 cp - s3://first-bucket/hello.txt

`;
}
