import * as z from 'zod/mini';
import { day, minute, second } from '../ports/durations.ts';
import { backupPlace, blobPlace } from './backup-place.ts';
import { duration } from './durations.ts';
import { limits } from './limits.ts';
import * as values from './option-values.ts';
import { size, sizeText } from './sizes.ts';

/** An option of `stillage start`, by its name in camel case, from which its flag and its variable follow. */
export interface StartOption<Value, Given = Value> extends Facts<Value> {
  /** The heading of the help that it is under. */
  readonly group: string;
  readonly default: Value;
  /** Reads the text of a command line or a variable, or what `startStillage` was given. @throws InvalidArgumentError */
  read(this: void, given: Given | string): Value;
}

/** What is said of an option in its row below. */
interface Facts<Value> {
  /** The placeholder of its value in the help; none: the option is on or off. */
  readonly takes?: string;
  readonly help: string;
  /** What the documentation adds to the help, in Markdown. */
  readonly remark?: string;
  readonly repeatable?: true;
  readonly default?: Value;
  /** The default in words, if its value does not say it. */
  readonly defaultText?: string;
  /** Why `startStillage` refuses it. */
  readonly programOnly?: string;
}

const ofConsole = 'the console is served by the program alone';
const ofBackups = 'backups are made by the program alone';
const ofManyMachines = 'a service of many machines is run by the program alone';
const ofOperators = 'the program alone is administered over HTTP';
const ofMetrics = 'metrics are served by the program alone';

/** More workers would not help: a single process commits for all of them. */
const maxWorkers = 64;

const addresses = inGroup('Addresses');
const data = inGroup('Data');
const manyMachines = inGroup('Many machines');
const webConsole = inGroup('Web console');
const metrics = inGroup('Metrics');
const administration = inGroup('Administration');
const signatures = inGroup('Regions and signatures');
const xml = inGroup('XML');
const capacity = inGroup('Capacity');
const schedules = inGroup('Alarms and schedules');

/** The options of `stillage start` and of `startStillage`, in the order of the help: each once, with all that is known of it. */
export const startOptions = {
  port: addresses(values.port, { takes: 'n', help: 'port of the S3 API; 0: any free port', default: 9000 }),
  host: addresses(values.host, {
    takes: 'address',
    help: 'address to listen on; 0.0.0.0: all IPv4 addresses',
    default: '127.0.0.1',
  }),
  domain: addresses(values.domain, {
    takes: 'name',
    help: 'buckets are also addressed as <bucket>.<name>',
    default: 'localhost',
  }),
  websiteDomain: addresses(values.domain, {
    takes: 'name',
    help: 'websites are served at <bucket>.<name>',
    remark: 'See [websites-and-cors.md](websites-and-cors.md)',
    default: 'website.localhost',
  }),
  /** The base URL of public links, without a trailing slash. Default: the address of each request. */
  publicUrl: addresses(values.publicUrl, {
    takes: 'url',
    help: 'base URL of public links, as clients reach the service',
    remark: 'See [public-links.md](public-links.md)',
    defaultText: 'the address of each request',
  }),
  /** Serves HTTPS with a certificate that the service makes itself. */
  tls: addresses(z.literal('self-signed', 'Must be self-signed; --tls-cert and --tls-key name a certificate.'), {
    takes: 'self-signed',
    help: 'serve HTTPS with a certificate of its own making',
    remark: 'For [trying](#a-self-signed-certificate)',
  }),
  tlsCert: addresses(values.path, {
    takes: 'file',
    help: 'certificate (PEM), to serve HTTPS',
    remark:
      'When certificate or key change, both are reloaded within seconds; an invalid pair is logged, and the former stays in use',
  }),
  tlsKey: addresses(values.path, { takes: 'file', help: 'private key (PEM) of the certificate' }),
  trustProxy: addresses(values.names(values.network), {
    takes: 'cidr',
    help: 'peers whose X-Forwarded-* headers are trusted',
    repeatable: true,
    default: [],
  }),
  data: data(values.path, {
    takes: 'dir',
    help: 'data directory; created if missing',
    remark: '[What it holds](#data-directory)',
    default: './data',
  }),
  /** Keeps all data in memory; it is lost when the service exits. */
  ephemeral: data(onOrOff(), {
    help: 'for tests: keep all data in memory, and ignore --data',
    remark: '**Everything is lost when the service stops**, and there is no console',
    default: false,
  }),
  /** Buckets to create if they are missing. */
  buckets: data(values.names(values.bucketName), {
    takes: 'name',
    help: 'bucket to create if missing',
    remark:
      'It belongs to the project of the key below, otherwise to the first project of `--accounts`, otherwise to `main@local`',
    repeatable: true,
    default: [],
  }),
  accounts: data(values.path, {
    takes: 'file',
    help: 'JSON list of projects, users and keys to create if missing',
    remark: '[Its form](#accounts-file)',
  }),
  awsCredentials: data(onOrOff(), {
    help: 'create the key of the AWS_* environment variables if missing',
    default: false,
    programOnly: 'use credentials instead',
  }),
  /** The time to keep deleted bytes that no request reads: `90s`, `1h`, `7d`. Default: `0`. */
  releaseGrace: data(duration.check(z.maximum(30 * day, 'Must be at most 30d.')), {
    takes: 'time',
    help: 'how long to keep deleted bytes that no request reads: 90s, 1h, 7d',
    remark: 'At most `30d`: [when bytes are freed](durability.md#when-bytes-are-freed)',
    default: 0,
  }),
  /** The amount that the background scrub reads and verifies per second: `4MiB`; `0`: nothing. Default: `4MiB`. */
  scrubRate: data(size, {
    takes: 'size',
    help: 'how much the background scrub reads and verifies per second; 0: nothing',
    remark: 'See [scrub.md](scrub.md#in-the-background-on-one-machine)',
    default: 4 * 1024 * 1024,
    defaultText: sizeText(4 * 1024 * 1024),
  }),
  backupTo: data(backupPlace, {
    takes: 'target',
    help: 'directory, or bucket in an S3, to back up to at every start and each --backup-every',
    remark: 'See [backup.md](backup.md#on-a-schedule)',
    programOnly: ofBackups,
  }),
  backupEvery: data(
    duration.check(z.minimum(minute, 'Must be at least 1m.'), z.maximum(30 * day, 'Must be at most 30d.')),
    {
      takes: 'time',
      help: 'how often to back up, by the clock in UTC: 1h, 24h',
      default: day,
      defaultText: '24h',
      programOnly: ofBackups,
    },
  ),
  backupPassphraseFile: data(values.path, {
    takes: 'file',
    help: 'file with the passphrase of the backups',
    defaultText: 'STILLAGE_BACKUP_PASSPHRASE',
    programOnly: ofBackups,
  }),
  readyFile: data(values.path, {
    takes: 'file',
    help: 'file to write the endpoint to once the service answers',
    remark: 'Removed when it stops',
    programOnly: 'startStillage resolves once the service answers',
  }),
  table: manyMachines(values.postgresUrl, {
    takes: 'url',
    help: 'keep the table in this database of PostgreSQL, and ignore --data; needs --blobs and --key-file',
    remark: 'See [many-machines.md](many-machines.md)',
    programOnly: ofManyMachines,
  }),
  blobs: manyMachines(blobPlace, {
    takes: 's3-url',
    help: 'keep the bytes of objects in this bucket of an S3',
    remark: 'With `--table` only',
    programOnly: ofManyMachines,
  }),
  keyFile: manyMachines(values.path, {
    takes: 'file',
    help: 'file with the key that secrets are encrypted with, the same on all machines; created if missing',
    remark: 'With `--table` only',
    programOnly: ofManyMachines,
  }),
  consolePort: webConsole(values.port, {
    takes: 'n',
    help: 'port of the web console; 0: no console',
    remark: 'See [console.md](console.md)',
    default: 9001,
    programOnly: ofConsole,
  }),
  consoleOrigin: webConsole(values.list(values.origin), {
    takes: 'origin',
    help: 'further origin of the console, which may call the API',
    remark: 'See [console.md](console.md#origins)',
    repeatable: true,
    default: [],
    programOnly: ofConsole,
  }),
  consoleUrl: webConsole(values.publicUrl, {
    takes: 'url',
    help: 'address of the console; browsers that open / of the API are redirected to it',
    remark:
      'Without this option, a page names the port of the console on the same host, and the browser goes nowhere by itself',
    defaultText: 'they are told its port',
    programOnly: ofConsole,
  }),
  consoleFiles: webConsole(values.path, {
    takes: 'dir',
    help: 'directory of the console to serve',
    defaultText: 'the built console',
    programOnly: ofConsole,
  }),
  metricsPort: metrics(values.port, {
    takes: 'n',
    help: 'serve metrics for Prometheus at http://127.0.0.1:<n>/metrics',
    remark: 'See [prometheus.md](prometheus.md)',
    default: 0,
    defaultText: 'none',
    programOnly: ofMetrics,
  }),
  metricsTokenFile: metrics(values.path, {
    takes: 'file',
    help: 'serve metrics at /_stillage/metrics, for requests with the bearer token in this file',
    remark: 'Without it, the path does not exist',
    programOnly: ofMetrics,
  }),
  metricsBuckets: metrics(onOrOff(), {
    help: 'add the size and number of objects of each bucket to the metrics',
    default: false,
    programOnly: ofMetrics,
  }),
  adminPort: administration(values.port, {
    takes: 'n',
    help: 'administer the service over HTTP at http://127.0.0.1:<n>, with the tokens of operators',
    remark: 'See [admin-api.md](admin-api.md)',
    default: 0,
    defaultText: 'none',
    programOnly: ofOperators,
  }),
  /** The origin of the operators' page behind a proxy: `https://operators.example.com`. */
  adminUrl: administration(values.origin, {
    takes: 'origin',
    help: "how browsers reach the operators' page, if a proxy with TLS stands before --admin-port",
    remark: 'See [admin-api.md](admin-api.md#behind-a-proxy)',
    defaultText: 'the page works at its own address alone',
    programOnly: ofOperators,
  }),
  auditDays: administration(
    values.number(
      (days, digits) => /^\d+$/.test(digits) && days <= 3650,
      'Must be a whole number of days, at most 3650; 0: nothing is kept.',
    ),
    {
      takes: 'n',
      help: 'days for which the audit log keeps who did what; 0: nothing',
      remark: 'See [audit.md](audit.md)',
      default: 90,
    },
  ),
  /** Answers no act as done that is not taken down. */
  auditStrict: administration(onOrOff(), {
    help: 'answer 503 to what changes users, rights or settings and cannot be taken down in the audit log',
    remark: 'See [audit.md](audit.md#what-it-promises)',
    default: false,
  }),
  accessLogInterval: administration(
    duration.check(z.minimum(second, 'Must be at least 1s.'), z.maximum(day, 'Must be at most 24h.')),
    {
      takes: 'time',
      help: 'how often access logs of buckets are delivered, by the clock in UTC: 10s, 5m, 1h',
      remark: 'See [access-logs.md](access-logs.md)',
      default: 5 * minute,
      defaultText: '5m',
    },
  ),
  /** Writes the source region, the last field of records in access logs. */
  accessLogSourceRegion: administration(onOrOff(), {
    help: 'leave the last field out of access logs, the source region',
    remark: 'For readers that expect 26 fields',
    default: true,
  }),
  region: signatures(values.region, { takes: 'name', help: 'region of the service', default: 'us-east-1' }),
  /** Refuses signatures for other regions. */
  strictRegion: signatures(onOrOff(), {
    help: 'refuse signatures for any other region',
    remark: 'SDKs learn the right one from the error',
    default: false,
  }),
  /** Location constraints that CreateBucket accepts besides the region of the service. Default: any. */
  allowRegion: signatures(values.list(values.region), {
    takes: 'name',
    help: 'further LocationConstraint that CreateBucket accepts',
    remark: 'Others are refused, but for the region of the service',
    repeatable: true,
    defaultText: 'any',
  }),
  /** Accepts Signature Version 2. */
  signatureV2: signatures(onOrOff(), {
    help: 'refuse Signature Version 2',
    remark: 'It does not cover the body',
    default: true,
  }),
  xmlNamespace: xml(values.uri, {
    takes: 'uri',
    help: 'namespace of XML responses',
    default: 'http://s3.amazonaws.com/doc/2006-03-01/',
  }),
  allUsersGroupUri: xml(values.uri, {
    takes: 'uri',
    help: 'URI of the AllUsers group in ACLs',
    default: 'http://acs.amazonaws.com/groups/global/AllUsers',
  }),
  workers: capacity(values.countTo(maxWorkers), {
    takes: 'n',
    help: 'processes that serve requests',
    remark:
      'By default one for each processor that the control group allows, at most 4, and at most one for each 512 MiB of memory. One of them also commits what the others write: reads gain from each; small writes of many callers do not, so 1 suits a service that is mostly written',
    defaultText: 'the processors, at most 4',
    programOnly: 'a service within a program is one process',
  }),
  /** Limits that differ from their defaults. */
  limit: capacity(limits, {
    takes: 'name=value',
    help: 'limit to set, of those below',
    remark: 'Their names, defaults and ranges: [limits.md](limits.md)',
    repeatable: true,
    default: {},
    defaultText: 'none',
  }),
  /** Webhook targets allowed at non-public addresses, as `host:port`. */
  alarmWebhookAllow: schedules(values.list(values.hostAndPort), {
    takes: 'host:port',
    help: 'webhook target allowed at a non-public address',
    remark: 'All others must have public addresses',
    repeatable: true,
    default: [],
  }),
  /** The interval of metrics and alarms, in seconds. Default: 300. */
  monitoringSeconds: schedules(
    values.number(
      (seconds) => seconds > 0 && seconds <= 86_400,
      'Must be a positive number of seconds, at most 86400 (a day).',
    ),
    { takes: 'n', help: 'for tests: interval of metrics and alarms, in seconds', defaultText: '300' },
  ),
  /** The length of a day in lifecycle rules, in seconds. Default: a UTC day. */
  lifecycleDaySeconds: schedules(
    values.number((seconds) => Number.isFinite(seconds) && seconds > 0, 'Must be a positive number of seconds.'),
    {
      takes: 'n',
      help: 'for tests: length of a day in lifecycle rules, in seconds',
      remark: 'See [lifecycle.md](lifecycle.md)',
      defaultText: 'a UTC day',
    },
  ),
};

type Table = typeof startOptions;
export type StartOptionName = keyof Table;
type ValueOf<Row> = Row extends StartOption<infer Value, infer _> ? Value : never;
type GivenOf<Row> = Row extends StartOption<infer _, infer Given> ? Given : never;

/** The names of options with a default, which are always there. */
type Settled = { [Name in StartOptionName]: undefined extends ValueOf<Table[Name]> ? never : Name }[StartOptionName];

/** The options of `stillage start` as they are given. */
export type GivenStartOptions = { readonly [Name in Settled]: ValueOf<Table[Name]> } & {
  readonly [Name in Exclude<StartOptionName, Settled>]?: NonNullable<ValueOf<Table[Name]>>;
};

/** The options of `stillage start` that `startStillage` takes. */
export type PackageOptions = {
  readonly [Name in keyof Table as [GivenOf<Table[Name]>] extends [never] ? never : Name]?: GivenOf<Table[Name]>;
};

/** An access key to create if it is missing. */
export interface InitialKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The options that the service was started with. */
export type StartOptions = Omit<GivenStartOptions, 'workers'> & {
  /** The number of processes that serve requests. 1: this process alone; otherwise this process commits their writes. */
  readonly workers: number;
  /** Not an option of the command line, which other users of the machine can read. */
  readonly key?: InitialKey;
};

/** The values of options that are not given, in one process. */
export const defaultOptions = {
  ...Object.fromEntries(
    Object.entries(startOptions).flatMap(([name, row]) => (row.default === undefined ? [] : [[name, row.default]])),
  ),
  workers: 1,
} as Pick<GivenStartOptions, Settled> & { readonly workers: number };

function onOrOff(): values.ValueType<boolean, boolean> {
  return z.boolean('Must be true or false.');
}

/** Makes the rows of a group. An option of the program alone takes nothing from `startStillage`, and one without a default may be undefined. */
function inGroup(group: string) {
  return <Value, Given, const Own extends Facts<Value>>(
    type: values.ValueType<Value, Given>,
    facts: Own,
  ): StartOption<
    Own extends { readonly default: unknown } ? Value : Value | undefined,
    Own extends { readonly programOnly: string } ? never : Given
  > => ({ group, ...facts, default: facts.default, read: (given: unknown) => values.readAs(type, given) }) as never;
}
