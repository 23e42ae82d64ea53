import type { Limits } from '../../../shared/protocol/limits.ts';

/** An access key that is to exist once the service has started. */
export interface InitialKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What `stillage start` was asked to do. */
export interface StartOptions {
  readonly port: number;
  readonly host: string;
  /** Of the console; 0: there is none. */
  readonly consolePort: number;
  /** Origins of the console besides its usual ones. */
  readonly consoleOrigin: readonly string[];
  /** The folder of the console's files, if not the one that was built. */
  readonly consoleFiles?: string;
  /** Of the listener for metrics, on loopback; 0: there is none. */
  readonly metricsPort: number;
  /** The file of the token that `/_stillage/metrics` wants; without it, there is no such path. */
  readonly metricsTokenFile?: string;
  /** Whether metrics tell the size of each bucket. */
  readonly metricsBuckets: boolean;
  readonly data: string;
  /** Whether everything is kept in memory, and gone when the service ends. */
  readonly ephemeral: boolean;
  /** Buckets that exist once the service has started. */
  readonly buckets: readonly string[];
  /** Whether the access key of AWS's environment variables is created. */
  readonly awsCredentials: boolean;
  /** An access key that exists once the service has started. It is no option of the command line, which everybody can read. */
  readonly key?: InitialKey;
  /** The file that the endpoint is written to, once the service answers. */
  readonly readyFile?: string;
  readonly domain: string;
  readonly websiteDomain: string;
  readonly region: string;
  /** Whether signatures for another region are refused. */
  readonly strictRegion: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly accounts?: string;
  readonly trustProxy: readonly string[];
  /** Whether signatures of version 2 are taken. */
  readonly signatureV2: boolean;
  readonly xmlNamespace: string;
  readonly allUsersGroupUri: string;
  /** Where clients reach the service, if not where each request is sent: without a slash at the end. */
  readonly publicUrl?: string;
  /** Regions besides its own that buckets may be asked for in, if not any. */
  readonly allowRegion?: readonly string[];
  /** How long a day of lifecycle rules is, if not a day. */
  readonly lifecycleDaySeconds?: number;
  /** Targets of alarms that may lie anywhere, as `host:port`. */
  readonly alarmWebhookAllow: readonly string[];
  /** How often metrics are collected, if not every five minutes. */
  readonly monitoringSeconds?: number;
  /** How many processes serve requests. 1: this one does, and there are no others. */
  readonly workers: number;
  /** What differs from the default limits. */
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
  xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
  allUsersGroupUri: 'http://acs.amazonaws.com/groups/global/AllUsers',
} as const satisfies Partial<StartOptions>;
