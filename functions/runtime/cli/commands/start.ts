import cluster from 'node:cluster';
import { Command, InvalidArgumentError } from 'commander';
import { consoleOriginOption } from '../console-origin-option.ts';
import { limitOption, limitsHelp } from '../limit-option.ts';
import { startLocalServer } from '../../local/server.ts';
import { runWorker } from '../../local/workers/worker.ts';
import { lifecycleDayOption, monitoringIntervalOption, webhookAllowOption } from '../schedule-options.ts';
import { publicUrlOption } from '../public-url-option.ts';
import { setting } from '../setting.ts';
import { defaultOptions, type StartOptions } from '../../local/settings.ts';

/** `stillage start`. */
export function startCommand(): Command {
  const { trustProxy, ...defaults } = defaultOptions;
  return new Command('start')
    .description('Run the whole service on this machine, until it is told to stop (SIGTERM or Ctrl-C).')
    .addOption(setting('--port <n>', 'port to listen on; 0 takes a free one', 'PORT', defaults.port).argParser(port))
    .addOption(setting('--host <h>', 'address to listen on', 'HOST', defaults.host))
    .addOption(
      setting('--console-port <n>', 'port of the console; 0: none', 'CONSOLE_PORT', defaults.consolePort).argParser(
        port,
      ),
    )
    .addOption(consoleOriginOption())
    .addOption(
      setting('--console-files <dir>', 'serve this console (default: the one that was built)', 'CONSOLE_FILES'),
    )
    .addOption(
      setting('--data <dir>', 'directory of table, blobs and key file; created if missing', 'DATA', defaults.data),
    )
    .addOption(setting('--domain <name>', 'buckets are also addressed as <bucket>.<name>', 'DOMAIN', defaults.domain))
    .addOption(
      setting(
        '--website-domain <name>',
        'websites are served at <bucket>.<name>',
        'WEBSITE_DOMAIN',
        defaults.websiteDomain,
      ),
    )
    .addOption(setting('--region <r>', 'region that the service says it is', 'REGION', defaults.region))
    .addOption(setting('--tls-cert <file>', 'certificate (PEM): serve HTTPS', 'TLS_CERT'))
    .addOption(setting('--tls-key <file>', 'private key of the certificate (PEM)', 'TLS_KEY'))
    .addOption(setting('--accounts <file>', 'JSON list of projects, users and keys that must exist', 'ACCOUNTS'))
    .addOption(
      setting(
        '--trust-proxy <cidr>',
        'believe X-Forwarded-* from these peers (repeatable)',
        'TRUST_PROXY',
        trustProxy,
      ).argParser((value: string, previous: readonly string[]) => [
        ...previous,
        ...value.split(',').map((one) => one.trim()),
      ]),
    )
    .addOption(
      setting('--strict-region', 'refuse signatures for any other region', 'STRICT_REGION', defaults.strictRegion),
    )
    .addOption(
      setting(
        '--allow-region <r>',
        'let buckets be created in this region by name, besides its own (repeatable); by default in any',
        'ALLOW_REGION',
      ).argParser((value: string, previous: readonly string[] = []) => [...previous, ...regionsOf(value)]),
    )
    .addOption(setting('--no-signature-v2', 'refuse signatures of version 2', 'NO_SIGNATURE_V2', defaults.signatureV2))
    .addOption(setting('--xml-namespace <uri>', 'namespace of XML answers', 'XML_NAMESPACE', defaults.xmlNamespace))
    .addOption(
      setting(
        '--all-users-group-uri <uri>',
        'URI that names everybody in a grant',
        'ALL_USERS_GROUP_URI',
        defaults.allUsersGroupUri,
      ),
    )
    .addOption(publicUrlOption())
    .addOption(webhookAllowOption())
    .addOption(lifecycleDayOption())
    .addOption(monitoringIntervalOption())
    .addOption(
      setting(
        '--workers <n>',
        'processes that serve requests; one more commits what they write. 1: one process does both',
        'WORKERS',
        defaults.workers,
      ).argParser(workers),
    )
    .addOption(limitOption('another limit than the default (repeatable); the limits stand below'))
    .addHelpText('after', limitsHelp)
    .action(async (options: StartOptions) => {
      if (cluster.isWorker) return runWorker(options);
      const server = await startLocalServer(options);
      await server.stopped;
    });
}

function regionsOf(value: string): readonly string[] {
  const regions = value.split(',').map((one) => one.trim());
  if (regions.every((region) => /^[A-Za-z0-9-]{1,63}$/.test(region))) return regions;
  throw new InvalidArgumentError('A region has letters, digits and hyphens.');
}

/** More would not pay: what commits for all of them is one process. */
const maxWorkers = 64;

function workers(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= maxWorkers) return number;
  throw new InvalidArgumentError(`A number of workers is one from 1 to ${maxWorkers}.`);
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return number;
}
