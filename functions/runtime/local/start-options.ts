import { InvalidArgumentError, type Option } from 'commander';
import { day } from '../../../shared/ports/durations.ts';
import { defaultOptions } from './settings.ts';
import { countTo, domain, host, path, port, region, uri } from '../command-line/option-values.ts';
import { consoleOriginOption } from '../command-line/console-origin-option.ts';
import { duration } from '../command-line/durations.ts';
import { limitOption } from '../command-line/limit-option.ts';
import { parseBytes, sizeText } from '../command-line/sizes.ts';
import { publicUrlOption } from '../command-line/public-url-option.ts';
import { lifecycleDayOption, monitoringIntervalOption, webhookAllowOption } from '../command-line/schedule-options.ts';
import { group, setting } from '../command-line/setting.ts';

const { trustProxy, buckets, ...defaults } = defaultOptions;

/** Returns the options of `stillage start`, which `startStillage` accepts as well, in the order of the help. */
export function startOptions(): readonly Option[] {
  return [
    ...group('Addresses:', addressOptions()),
    ...group('Data:', dataOptions()),
    ...group('Web console:', consoleOptions()),
    ...group('Metrics:', metricsOptions()),
    ...group('Regions and signatures:', signatureOptions()),
    ...group('XML:', xmlOptions()),
    ...group('Capacity:', capacityOptions()),
    ...group('Alarms and schedules:', [webhookAllowOption(), monitoringIntervalOption(), lifecycleDayOption()]),
  ];
}

function addressOptions(): readonly Option[] {
  return [
    setting('--port <n>', 'port of the S3 API; 0: any free port', 'PORT', defaults.port).argParser(port),
    setting('--host <address>', 'address to listen on; 0.0.0.0: all IPv4 addresses', 'HOST', defaults.host).argParser(
      host,
    ),
    setting('--domain <name>', 'buckets are also addressed as <bucket>.<name>', 'DOMAIN', defaults.domain).argParser(
      domain,
    ),
    setting(
      '--website-domain <name>',
      'websites are served at <bucket>.<name>',
      'WEBSITE_DOMAIN',
      defaults.websiteDomain,
    ).argParser(domain),
    publicUrlOption(),
    setting('--tls-cert <file>', 'certificate (PEM), to serve HTTPS', 'TLS_CERT').argParser(path),
    setting('--tls-key <file>', 'private key (PEM) of the certificate', 'TLS_KEY').argParser(path),
    setting(
      '--trust-proxy <cidr>',
      'peers whose X-Forwarded-* headers are trusted (repeatable)',
      'TRUST_PROXY',
      trustProxy,
    ).argParser(listOf),
  ];
}

function dataOptions(): readonly Option[] {
  return [
    setting('--data <dir>', 'data directory; created if missing', 'DATA', defaults.data).argParser(path),
    setting('--ephemeral', 'for tests: keep all data in memory, and ignore --data', 'EPHEMERAL', defaults.ephemeral),
    setting('--buckets <name>', 'bucket to create if missing (repeatable)', 'BUCKETS', buckets).argParser(listOf),
    setting('--accounts <file>', 'JSON list of projects, users and keys to create if missing', 'ACCOUNTS').argParser(
      path,
    ),
    setting(
      '--aws-credentials',
      'create the key of the AWS_* environment variables if missing',
      'AWS_CREDENTIALS',
      defaults.awsCredentials,
    ),
    setting(
      '--release-grace <time>',
      'how long to keep deleted bytes that no request reads: 90s, 1h, 7d',
      'RELEASE_GRACE',
      defaults.releaseGrace,
    ).argParser(releaseGrace),
    setting(
      '--scrub-rate <size>',
      'how much the background scrub reads and verifies per second; 0: nothing',
      'SCRUB_RATE',
      defaults.scrubRate,
      sizeText(defaults.scrubRate),
    ).argParser((value: string) => parseBytes(value)),
    setting('--ready-file <file>', 'file to write the endpoint to once the service answers', 'READY_FILE').argParser(
      path,
    ),
  ];
}

function consoleOptions(): readonly Option[] {
  return [
    setting(
      '--console-port <n>',
      'port of the web console; 0: no console',
      'CONSOLE_PORT',
      defaults.consolePort,
    ).argParser(port),
    consoleOriginOption(),
    setting(
      '--console-files <dir>',
      'directory of the console to serve',
      'CONSOLE_FILES',
      undefined,
      'the built console',
    ).argParser(path),
  ];
}

function metricsOptions(): readonly Option[] {
  return [
    setting(
      '--metrics-port <n>',
      'serve metrics for Prometheus at http://127.0.0.1:<n>/metrics',
      'METRICS_PORT',
      defaults.metricsPort,
      'none',
    ).argParser(port),
    setting(
      '--metrics-token-file <file>',
      'serve metrics at /_stillage/metrics, for requests with the bearer token in this file',
      'METRICS_TOKEN_FILE',
    ).argParser(path),
    setting(
      '--metrics-buckets',
      'add the size and number of objects of each bucket to the metrics',
      'METRICS_BUCKETS',
      defaults.metricsBuckets,
    ),
  ];
}

function signatureOptions(): readonly Option[] {
  return [
    setting('--region <name>', 'region of the service', 'REGION', defaults.region).argParser(region),
    setting('--strict-region', 'refuse signatures for any other region', 'STRICT_REGION', defaults.strictRegion),
    setting(
      '--allow-region <name>',
      'further LocationConstraint that CreateBucket accepts (repeatable)',
      'ALLOW_REGION',
      undefined,
      'any',
    ).argParser((value: string, previous: readonly string[] = []) => [
      ...previous,
      ...value.split(',').map((one) => region(one.trim())),
    ]),
    setting('--no-signature-v2', 'refuse Signature Version 2', 'NO_SIGNATURE_V2', defaults.signatureV2),
  ];
}

function xmlOptions(): readonly Option[] {
  return [
    setting('--xml-namespace <uri>', 'namespace of XML responses', 'XML_NAMESPACE', defaults.xmlNamespace).argParser(
      uri,
    ),
    setting(
      '--all-users-group-uri <uri>',
      'URI of the AllUsers group in ACLs',
      'ALL_USERS_GROUP_URI',
      defaults.allUsersGroupUri,
    ).argParser(uri),
  ];
}

function capacityOptions(): readonly Option[] {
  return [
    setting(
      '--workers <n>',
      'processes that serve requests',
      'WORKERS',
      undefined,
      'the processors, at most 4',
    ).argParser(countTo(maxWorkers)),
    limitOption('limit to set, of those below (repeatable)'),
  ];
}

function listOf(value: string, previous: readonly string[]): readonly string[] {
  const names = value.split(',').map((one) => one.trim());
  return [...previous, ...names.filter((name) => name !== '')];
}

/** More would not help: a single process commits for all of them. */
const maxWorkers = 64;

const longestGrace = 30 * day;

function releaseGrace(value: string): number {
  const grace = duration(value);
  if (grace <= longestGrace) return grace;
  throw new InvalidArgumentError('Must be at most 30d.');
}
