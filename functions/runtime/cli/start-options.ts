import { InvalidArgumentError, type Option } from 'commander';
import { defaultOptions } from '../local/settings.ts';
import { consoleOriginOption } from './console-origin-option.ts';
import { limitOption } from './limit-option.ts';
import { publicUrlOption } from './public-url-option.ts';
import { lifecycleDayOption, monitoringIntervalOption, webhookAllowOption } from './schedule-options.ts';
import { setting } from './setting.ts';

/** The options of `stillage start`, which are those of `startStillage` as well: the one place that defines them. */
export function startOptions(): readonly Option[] {
  const { trustProxy, buckets, ...defaults } = defaultOptions;
  return [
    setting('--port <n>', 'port to listen on; 0 takes a free one', 'PORT', defaults.port).argParser(port),
    setting('--host <h>', 'address to listen on', 'HOST', defaults.host),
    setting('--console-port <n>', 'port of the console; 0: none', 'CONSOLE_PORT', defaults.consolePort).argParser(port),
    consoleOriginOption(),
    setting('--console-files <dir>', 'serve this console (default: the one that was built)', 'CONSOLE_FILES'),
    setting(
      '--metrics-port <n>',
      'serve metrics for Prometheus at http://127.0.0.1:<n>/metrics, to this machine only (default: no port)',
      'METRICS_PORT',
      defaults.metricsPort,
    ).argParser(port),
    setting(
      '--metrics-token-file <file>',
      'serve metrics at /_stillage/metrics, to requests with the bearer token of this file',
      'METRICS_TOKEN_FILE',
    ),
    setting(
      '--metrics-buckets',
      'metrics tell the size of each bucket and its number of objects',
      'METRICS_BUCKETS',
      defaults.metricsBuckets,
    ),
    setting('--data <dir>', 'directory of table, blobs and key file; created if missing', 'DATA', defaults.data),
    setting(
      '--ephemeral',
      'for tests: keep everything in memory, and nothing when the service ends; --data is not used',
      'EPHEMERAL',
      defaults.ephemeral,
    ),
    setting(
      '--buckets <name>',
      'create this bucket at the start if it is missing (repeatable; several with commas between them)',
      'BUCKETS',
      buckets,
    ).argParser(listOf),
    setting(
      '--aws-credentials',
      'create the access key that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name',
      'AWS_CREDENTIALS',
      defaults.awsCredentials,
    ),
    setting('--ready-file <file>', 'once the service answers, write its endpoint to this file', 'READY_FILE'),
    setting('--domain <name>', 'buckets are also addressed as <bucket>.<name>', 'DOMAIN', defaults.domain),
    setting(
      '--website-domain <name>',
      'websites are served at <bucket>.<name>',
      'WEBSITE_DOMAIN',
      defaults.websiteDomain,
    ),
    setting('--region <r>', 'region that the service says it is', 'REGION', defaults.region),
    setting('--tls-cert <file>', 'certificate (PEM): serve HTTPS', 'TLS_CERT'),
    setting('--tls-key <file>', 'private key of the certificate (PEM)', 'TLS_KEY'),
    setting('--accounts <file>', 'JSON list of projects, users and keys that must exist', 'ACCOUNTS'),
    setting(
      '--trust-proxy <cidr>',
      'believe X-Forwarded-* from these peers (repeatable)',
      'TRUST_PROXY',
      trustProxy,
    ).argParser(listOf),
    setting('--strict-region', 'refuse signatures for any other region', 'STRICT_REGION', defaults.strictRegion),
    setting(
      '--allow-region <r>',
      'let buckets be created in this region by name, besides its own (repeatable); by default in any',
      'ALLOW_REGION',
    ).argParser((value: string, previous: readonly string[] = []) => [...previous, ...regionsOf(value)]),
    setting('--no-signature-v2', 'refuse signatures of version 2', 'NO_SIGNATURE_V2', defaults.signatureV2),
    setting('--xml-namespace <uri>', 'namespace of XML answers', 'XML_NAMESPACE', defaults.xmlNamespace),
    setting(
      '--all-users-group-uri <uri>',
      'URI that names everybody in a grant',
      'ALL_USERS_GROUP_URI',
      defaults.allUsersGroupUri,
    ),
    publicUrlOption(),
    webhookAllowOption(),
    lifecycleDayOption(),
    monitoringIntervalOption(),
    setting(
      '--workers <n>',
      'processes that serve requests; one more commits what they write. 1: one process does both',
      'WORKERS',
      defaults.workers,
    ).argParser(workers),
    limitOption('another limit than the default (repeatable); the limits stand below'),
  ];
}

function listOf(value: string, previous: readonly string[]): readonly string[] {
  const names = value.split(',').map((one) => one.trim());
  return [...previous, ...names.filter((name) => name !== '')];
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
