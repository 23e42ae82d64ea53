import type { Accounts } from '../../../shared/accounts/accounts.ts';
import { randomKeyId, randomSecret } from '../../../shared/accounts/key-administration.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { settled } from '../../../shared/storage/table/settled.ts';
import { firstProject, firstProjectOf } from './initial-key.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import type { OwnCertificate } from '../tls.ts';
import { ownCommand, type Started } from './own-command.ts';
import { shellWord } from './shell-word.ts';

/** The access key that the first start creates. */
export interface FirstKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const initialised = itemKey.deployment('initialised');

/**
 * Makes a new service usable: creates a project with a random key in a new data directory, unless accounts are declared.
 * @param show receives the new key before the start is recorded as done, so that the key is shown at least once
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
  await settled(table.write([{ key: initialised, put: { done: true } }]));
  return true;
}

/** Returns a hint for later starts. */
export function whereKeysAre(data: string, started: Started): string {
  const command = (words: string): string => ownCommand(words, data, started);
  return `To see its keys: ${command(`key list ${firstProject}`)}; to use one: ${command('env <key id>')}\n`;
}

/** Returns how clients come to trust a certificate that the service has made itself. */
export function howToTrust({ path, fingerprint }: OwnCertificate, url: string): string {
  const file = shellWord(path);
  // It is not for the address that stands for all.
  const reachable = url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
  return `Its certificate is self-signed, SHA-256 ${fingerprint}. To trust it:
  export AWS_CA_BUNDLE=${file}
  curl --cacert ${file} ${reachable}/_stillage/health
`;
}

/** Returns the client settings for a new key, to paste into a shell. */
export function clientSettings(
  key: FirstKey,
  url: string,
  { region, data, ephemeral }: Pick<StartOptions, 'region' | 'data' | 'ephemeral'>,
  started: Started,
  certificate?: OwnCertificate,
): string {
  const trust = certificate ? `\n  export AWS_CA_BUNDLE=${shellWord(certificate.path)}` : '';
  const again = ephemeral ? '' : ` To see them again: ${ownCommand(`env ${key.accessKeyId}`, data, started)}`;
  return `
Created a project, a user and an access key.${again}

  export AWS_ACCESS_KEY_ID=${key.accessKeyId}
  export AWS_SECRET_ACCESS_KEY=${key.secretAccessKey}
  export AWS_REGION=${region}
  export AWS_DEFAULT_REGION=${region}
  export AWS_ENDPOINT_URL=${url}${trust}

Then, for example:

  aws s3 mb s3://first-bucket && echo hello | aws s3 cp - s3://first-bucket/hello.txt

`;
}
