import type { Limits } from '../../../shared/protocol/limits.ts';

/** What a function, or a server of the byte lane, is told of its deployment, by its environment. */
export interface CloudSettings {
  readonly table: string;
  /** How many milliseconds a call of the table may take: more than usual over an engine that is slow. */
  readonly tableTimeout: number | undefined;
  readonly blobBucket: string;
  /** The id of the secret that the deployment's keys are derived from. */
  readonly secret: string;
  /** The id of the secret by which the distribution proves itself. */
  readonly edgeSecret: string;
  /** The region the service says it is, whichever it runs in. */
  readonly region: string;
  readonly domain: string;
  readonly websiteDomain: string;
  readonly xmlNamespace: string;
  readonly allUsersGroupUri: string;
  /** Where clients reach the deployment, for public links; undefined: where each request was sent. */
  readonly publicUrl: string | undefined;
  /** Whether signatures for another region are refused. */
  readonly strictRegion: boolean;
  /** Whether signatures of version 2 are taken. */
  readonly signatureV2: boolean;
  /** Whether keys of customers (SSE-C) are taken. */
  readonly customerKeys: boolean;
  /** Regions besides its own that a bucket may be asked for in; undefined: any. */
  readonly regions: readonly string[] | undefined;
  /** How many bytes of memory uploads may take in a server of the byte lane. */
  readonly uploadMemory: number;
  /** Origins of the console: it may call every operation from a browser. */
  readonly consoleOrigins: ReadonlySet<string>;
  /** What differs from the default limits. */
  readonly limits: Partial<Limits>;
}

/** Half of the 2 GiB that a server has if nothing else is said. */
const defaultUploadMemory = 1024 * 1024 * 1024;

/** @throws Error that names what is missing */
export function readCloudSettings(environment: Readonly<Record<string, string | undefined>>): CloudSettings {
  const required = (name: string): string => {
    const value = environment[name];
    if (!value) throw new Error(`the environment variable ${name} is missing`);
    return value;
  };
  return {
    table: required('STILLAGE_TABLE'),
    tableTimeout: Number(environment['STILLAGE_TABLE_TIMEOUT']) || undefined,
    blobBucket: required('STILLAGE_BLOB_BUCKET'),
    secret: required('STILLAGE_SECRET'),
    edgeSecret: required('STILLAGE_EDGE_SECRET'),
    region: required('STILLAGE_REGION'),
    domain: required('STILLAGE_DOMAIN').toLowerCase(),
    websiteDomain: required('STILLAGE_WEBSITE_DOMAIN').toLowerCase(),
    xmlNamespace: required('STILLAGE_XML_NAMESPACE'),
    allUsersGroupUri: required('STILLAGE_ALL_USERS_GROUP_URI'),
    publicUrl: environment['STILLAGE_PUBLIC_URL'],
    strictRegion: environment['STILLAGE_STRICT_REGION'] === 'true',
    signatureV2: environment['STILLAGE_SIGNATURE_V2'] !== 'false',
    customerKeys: environment['STILLAGE_CUSTOMER_KEYS'] !== 'false',
    regions: environment['STILLAGE_REGIONS']?.split(','),
    uploadMemory: Number(environment['STILLAGE_UPLOAD_MEMORY']) || defaultUploadMemory,
    consoleOrigins: new Set(environment['STILLAGE_CONSOLE_ORIGINS']?.split(',')),
    limits: JSON.parse(environment['STILLAGE_LIMITS'] ?? '{}') as Partial<Limits>,
  };
}
