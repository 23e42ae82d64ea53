import type { Option } from 'commander';
import { deployment, path, publicUrl } from '../../shared/command-line/option-values.ts';
import { allStartOptions, option } from '../../shared/command-line/option.ts';

/*
 * Every option that is also an environment variable: those of `stillage start`, and these. The help of the program lists their variables, and
 * whoever misspells one is warned, without the code of the commands that take them.
 */

/** The variable with a passphrase, which is no option: other users of a machine can read command lines. */
export const passphraseVariable = 'STILLAGE_BACKUP_PASSPHRASE';

/** Returns the option for a cloud deployment. */
export function cloudOption(): Option {
  return option('--cloud <deployment>', 'stage of a cloud deployment, or the ARN of its function', deployment).env(
    'STILLAGE_CLOUD',
  );
}

/** Returns the option for a service that is administered over HTTP. */
export function endpointOption(): Option {
  return option('--endpoint <url>', 'where the service is administered over HTTP: its --admin-port', publicUrl).env(
    'STILLAGE_ENDPOINT',
  );
}

/** Returns the option for the token of an operator. */
export function tokenFileOption(): Option {
  return option('--token-file <file>', 'file with the token of an operator', path).env('STILLAGE_TOKEN_FILE');
}

/** Returns the option for the endpoint that `stillage env` prints. */
export function printedUrlOption(): Option {
  return option('--url <url>', 'endpoint to print', publicUrl)
    .env('STILLAGE_URL')
    .default(undefined, 'that of the service');
}

/** Returns the option for the passphrase of backups. */
export function passphraseOption(): Option {
  return option('--passphrase-file <file>', 'file with the passphrase of the backups', path)
    .env(`${passphraseVariable}_FILE`)
    .default(undefined, passphraseVariable);
}

/** Returns every option with an environment variable. If two have the same, the help of the program shows the later one. */
export function settings(): readonly Option[] {
  return [
    ...allStartOptions(),
    cloudOption(),
    endpointOption(),
    tokenFileOption(),
    printedUrlOption(),
    passphraseOption(),
  ];
}
