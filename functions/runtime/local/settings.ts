import type { Limits } from '../../../shared/protocol/limits.ts';

/** An access key to create if it is missing. */
export interface InitialKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The options of `stillage start`. */
export interface StartOptions {
  readonly port: number;
  readonly host: string;
  /** 0: no console. */
  readonly consolePort: number;
  /** Origins of the console besides its default ones. */
  readonly consoleOrigin: readonly string[];
  /** The directory of the console's files. Default: the built console. */
  readonly consoleFiles?: string;
  /** The port of the listener for metrics, on loopback; 0: no listener. */
  readonly metricsPort: number;
  /** The file of the token that `/_stillage/metrics` requires. Without it, the path does not exist. */
  readonly metricsTokenFile?: string;
  /** True if metrics include the size of each bucket. */
  readonly metricsBuckets: boolean;
  readonly data: string;
  /** Keeps all data in memory; it is lost when the service exits. */
  readonly ephemeral: boolean;
  /** Buckets to create if they are missing. */
  readonly buckets: readonly string[];
  /** Creates the access key of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly awsCredentials: boolean;
  /** Not an option of the command line, which other users of the machine can read. */
  readonly key?: InitialKey;
  /** The file that receives the endpoint once the service answers. */
  readonly readyFile?: string;
  readonly domain: string;
  readonly websiteDomain: string;
  readonly region: string;
  /** Refuses signatures for other regions. */
  readonly strictRegion: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly accounts?: string;
  readonly trustProxy: readonly string[];
  /** Accepts Signature Version 2. */
  readonly signatureV2: boolean;
  readonly xmlNamespace: string;
  readonly allUsersGroupUri: string;
  /** The base URL of public links, without a trailing slash. Default: the address of each request. */
  readonly publicUrl?: string;
  /** Location constraints that CreateBucket accepts besides the region of the service. Default: any. */
  readonly allowRegion?: readonly string[];
  /** The length of a day in lifecycle rules, in seconds. Default: a UTC day. */
  readonly lifecycleDaySeconds?: number;
  /** Webhook targets allowed at non-public addresses, as `host:port`. */
  readonly alarmWebhookAllow: readonly string[];
  /** The interval of metrics and alarms, in seconds. Default: 300. */
  readonly monitoringSeconds?: number;
  /** The number of processes that serve requests. 1: this process alone; otherwise this process commits their writes. */
  readonly workers: number;
  /** The milliseconds for which the content of deleted and replaced versions is kept, even if no request reads it. */
  readonly releaseGrace: number;
  /** The bytes that the background scrub reads per second. 0: it does not run. */
  readonly scrubRate: number;
  /** Limits that differ from their defaults. */
  readonly limit: Partial<Limits>;
}

export const defaultOptions = {
  port: 9000,
  host: '127.0.0.1',
  consolePort: 9001,
  metricsPort: 0,
  metricsBuckets: false,
  data: './data',
  ephemeral: false,
  buckets: [],
  awsCredentials: false,
  domain: 'localhost',
  websiteDomain: 'website.localhost',
  region: 'us-east-1',
  strictRegion: false,
  trustProxy: [],
  signatureV2: true,
  alarmWebhookAllow: [],
  workers: 1,
  releaseGrace: 0,
  scrubRate: 4 * 1024 * 1024,
  xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
  allUsersGroupUri: 'http://acs.amazonaws.com/groups/global/AllUsers',
} as const satisfies Partial<StartOptions>;
