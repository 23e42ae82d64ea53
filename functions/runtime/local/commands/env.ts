import type { Command } from 'commander';
import { setting } from '../setting.ts';
import { defaultOptions } from '../settings.ts';
import { verb } from './command.ts';

/** `stillage env` */
export function envCommand(): Command {
  return verb<{ url?: string; host: string; port: string; region: string; tlsCert?: string }>({
    name: 'env',
    does: 'print a shell rc file for a key, with its secret: service address, account, project, and all that the AWS CLI needs',
    operands: [['<key id>', 'id of the access key']],
    options: [
      setting('--url <url>', 'address of the service (default: made of the following)', 'URL'),
      setting('--host <h>', 'host that the service listens on', 'HOST', defaultOptions.host),
      setting('--port <n>', 'port that it listens on', 'PORT', String(defaultOptions.port)),
      setting('--tls-cert <file>', 'set if it serves HTTPS', 'TLS_CERT'),
      setting('--region <r>', 'region that the service says it is', 'REGION', defaultOptions.region),
    ],
    examples: [
      'env shop:ci@acme > shop.rc && . ./shop.rc && aws s3 ls',
      'env STGYYOUS4EQOCTROTQOJ --url https://s3.example.com',
    ],
    act: async ({ accounts, keys }, [id], { url, host, port, region, tlsCert }) => {
      const key = await keys.secretOf(id!);
      const project = await accounts.project(key.project);
      const address = host.includes(':') ? `[${host}]` : host;
      const endpoint = url ?? `${tlsCert === undefined ? 'http' : 'https'}://${address}:${port}`;
      const data = {
        S3_URL: endpoint,
        C2_PROJECT: project.id,
        EC2_ACCESS_KEY: key.accessKeyId,
        EC2_SECRET_KEY: key.secretAccessKey,
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_DEFAULT_REGION: region,
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
