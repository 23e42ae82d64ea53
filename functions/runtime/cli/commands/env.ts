import type { Command } from 'commander';
import { host, path, port, region } from '../../command-line/option-values.ts';
import { readPublicUrl } from '../../command-line/public-url-option.ts';
import { setting } from '../../command-line/setting.ts';
import { defaultOptions } from '../../local/settings.ts';
import { verb } from '../command.ts';

/** Returns `stillage env`. */
export function envCommand(): Command {
  return verb<{ url?: string }>({
    name: 'env',
    does: 'Print the environment variables of a key for the AWS CLI and SDKs, with its secret',
    operands: [['<key id>', 'access key id']],
    options: [
      setting('--url <url>', 'endpoint to print', 'URL', undefined, 'that of the service').argParser(readPublicUrl),
    ],
    service: [
      setting('--host <address>', 'address that the service listens on', 'HOST', defaultOptions.host).argParser(host),
      setting('--port <n>', 'port that the service listens on', 'PORT', String(defaultOptions.port)).argParser(
        (value) => String(port(value)),
      ),
      setting('--tls-cert <file>', 'set if the service serves HTTPS', 'TLS_CERT').argParser(path),
      setting('--region <name>', 'region of the service', 'REGION', defaultOptions.region).argParser(region),
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
        AWS_REGION: key.region,
        AWS_DEFAULT_REGION: key.region,
        AWS_ENDPOINT_URL: endpoint,
      };
      const lines = Object.entries(data).map(([name, value]) => `export ${name}=${quoted(value)}`);
      return {
        data,
        text: [`# ${key.user}, key ${key.accessKeyId}. This file contains a secret: keep it private.`, ...lines].join(
          '\n',
        ),
      };
    },
  });
}

/** Quotes a word for the shell, unless it needs no quotes. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
