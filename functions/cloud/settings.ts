import type { Limits } from '../../shared/protocol/limits.ts';

/** The settings that a function or a server of the byte lane reads from its environment. */
export interface CloudSettings {
  readonly table: string;
  /** The timeout of a call of the table in milliseconds, higher for a slow engine. */
  readonly tableTimeout: number | undefined;
  readonly blobBucket: string;
  /** The id of the secret that the keys of the deployment are derived from. */
  readonly secret: string;
  /** The id of the origin secret, which the distribution adds to requests. */
  readonly edgeSecret: string;
  /** The region of the service for clients. */
  readonly region: string;
  readonly domain: string;
  readonly websiteDomain: string;
  readonly xmlNamespace: string;
  readonly allUsersGroupUri: string;
  /** The base URL of public links; undefined: the address of each request. */
  readonly publicUrl: string | undefined;
  /** Refuses signatures for other regions. */
  readonly strictRegion: boolean;
  /** Accepts Signature Version 2. */
  readonly signatureV2: boolean;
  /** Accepts customer-provided keys (SSE-C). */
  readonly customerKeys: boolean;
  /** Location constraints that CreateBucket accepts besides the region of the service; undefined: any. */
  readonly regions: readonly string[] | undefined;
  /** Bytes of memory for uploads in a server of the byte lane. */
  readonly uploadMemory: number;
  /** Logs every request in the byte lane, rather than counts for the bill, failed requests and a sample of the others. */
  readonly logsEveryRequest: boolean;
  /** Origins of the console, which may call every operation from a browser. */
  readonly consoleOrigins: ReadonlySet<string>;
  /** Limits that differ from their defaults. */
  readonly limits: Partial<Limits>;
  /** The days for which the audit log keeps records; 0: nothing is taken down. */
  readonly auditDays: number;
  /** Answers no act as done that is not taken down. */
  readonly auditStrict: boolean;
}

/** Half of the 2 GiB that a server has by default. */
const defaultUploadMemory = 1024 * 1024 * 1024;

/** Reads the settings from environment variables. @throws Error that names a missing one */
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
    logsEveryRequest: environment['STILLAGE_REQUEST_LOG'] === 'all',
    consoleOrigins: new Set(environment['STILLAGE_CONSOLE_ORIGINS']?.split(',')),
    limits: JSON.parse(environment['STILLAGE_LIMITS'] ?? '{}') as Partial<Limits>,
    auditDays: Number(environment['STILLAGE_AUDIT_DAYS'] ?? 0),
    auditStrict: environment['STILLAGE_AUDIT_STRICT'] === 'true',
  };
}
