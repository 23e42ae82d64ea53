import type { Command } from 'commander';
import { setting } from '../setting.ts';
import { defaultOptions } from '../../local/settings.ts';
import { verb } from '../command.ts';

/** `stillage env` */
export function envCommand(): Command {
  return verb<{ url?: string }>({
    name: 'env',
    does: 'print a shell rc file for a key, with its secret: service address, account, project, and all that the AWS CLI needs',
    operands: [['<key id>', 'id of the access key']],
    options: [setting('--url <url>', 'address of the service (default: as it was set up)', 'URL')],
    service: [
      setting('--host <h>', 'host that the service listens on', 'HOST', defaultOptions.host),
      setting('--port <n>', 'port that it listens on', 'PORT', String(defaultOptions.port)),
      setting('--tls-cert <file>', 'set if it serves HTTPS', 'TLS_CERT'),
      setting('--region <r>', 'region that the service says it is', 'REGION', defaultOptions.region),
    ],
    examples: [
      'env STILYOUS4EQOCTROTQOJ > shop.rc && . ./shop.rc && aws s3 ls',
      'env STILYOUS4EQOCTROTQOJ --url https://s3.example.com',
    ],
    act: async (ask, [id], { url }) => {
      const key = await ask('env', { key: id! });
      const endpoint = url ?? key.endpoint;
      const data = {
        S3_URL: endpoint,
        C2_PROJECT: key.project,
        EC2_ACCESS_KEY: key.accessKeyId,
        EC2_SECRET_KEY: key.secretAccessKey,
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_DEFAULT_REGION: key.region,
        AWS_ENDPOINT_URL: endpoint,
      };
      const lines = Object.entries(data).map(([name, value]) => `export ${name}=${quoted(value)}`);
      return { data, text: [`# ${key.user}, key ${key.accessKeyId}: keep this file to yourself`, ...lines].join('\n') };
    },
  });
}

/** A word of the shell that means nothing but itself. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
