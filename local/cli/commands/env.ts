import type { Command } from 'commander';
import { shellWord } from '../../server/first-start/shell-word.ts';
import { startOption } from '../../../shared/command-line/option.ts';
import { verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { printedUrlOption } from '../settings.ts';
import { argument, command } from '../../../functions/admin/command.ts';
import { newKey, result } from '../../../functions/admin/results.ts';

const named = { key: argument.text } as const;

const environment = result.object({
  ...newKey.shape,
  project: result.text,
  endpoint: result.text,
  region: result.text,
});

export const envCommands = {
  /** Returns a key with its secret and the settings of its client. */
  env: command(
    'env',
    'manage',
    named,
    environment,
    async ({ accounts, keys, settings: { endpoint, region } }, given) => {
      const key = await keys.secretOf(given.key);
      const { id } = await accounts.project(key.project);
      return { ...key, project: id, endpoint, region };
    },
  ),
};

/** Returns `stillage env`. */
export function commandLine(named: Named): Command {
  return verb<{ url?: string }>({
    ...named,
    operands: [operand.key],
    options: [printedUrlOption()],
    service: [
      startOption('host', 'address that the service listens on'),
      startOption('port', 'port that the service listens on'),
      startOption('tls', 'set if the service makes its certificate itself'),
      startOption('tlsCert', 'set if the service serves HTTPS'),
      startOption('region'),
    ],
    examples: [
      'env STILYOUS4EQOCTROTQOJ > shop.rc && . ./shop.rc && aws s3 ls',
      'env STILYOUS4EQOCTROTQOJ --url https://s3.example.com',
    ],
    act: async (ask, [id], { url }) => {
      const key = await ask(envCommands.env, { key: id! });
      const endpoint = url ?? key.endpoint;
      const data = {
        S3_URL: endpoint,
        C2_PROJECT: key.project,
        EC2_ACCESS_KEY: key.accessKeyId,
        EC2_SECRET_KEY: key.secretAccessKey,
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_REGION: key.region,
        AWS_DEFAULT_REGION: key.region,
        AWS_ENDPOINT_URL: endpoint,
      };
      const lines = Object.entries(data).map(([name, value]) => `export ${name}=${shellWord(value)}`);
      return {
        data,
        text: [`# ${key.user}, key ${key.accessKeyId}. This file contains a secret: keep it private.`, ...lines].join(
          '\n',
        ),
      };
    },
  });
}
