import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { onData, type Place } from '../storage/administration.ts';
import { bucketName, sdk } from '../clients/clients.ts';
import { deployed, deployedLog, isCloud, usualDomains, type Deployed } from '../cloud/deployed.ts';
import { keptInCloud, keptOnDisk } from '../disks/kept-bytes.ts';
import { exchange, type RawResponse } from '../clients/raw-client.ts';
import { alice, bob, startService, type Service, type ServiceOptions } from './server.ts';
import type { SharedService } from './shared-services.ts';
import {
  anonymous,
  presigned,
  signed,
  type Key,
  type Presigning,
  type Signing,
  type Unsigned,
} from '../clients/signer.ts';

/**
 * The service that a file of tests talks to: one that the files of a worker share, one that is started for it, a deployment in the
 * cloud (`npm run test:cloud`), or one that runs already.
 *
 * - `TEST_ENDPOINT`: its URL. It must know the two keys of {@link alice} and {@link bob}, of two projects that are
 *   strangers to one another;
 * - `TEST_KEYS`: other keys for them, as JSON: `[{"accessKeyId": …, "secretAccessKey": …}, {…}]`.
 */
export interface ServiceUnderTest {
  /** `http://127.0.0.1:54321` */
  readonly url: string;
  /** The URL that the service sees: a distribution reports HTTPS, as the real one does. */
  readonly ownUrl: string;
  /** Buckets have names below it, and websites below the other, unless the file chose others. */
  readonly domain: string;
  readonly websiteDomain: string;
  /** The value of the Host header. */
  readonly host: string;
  /**
   * The process, if it was started here.
   * @throws Error where files share it
   */
  readonly started: Service | undefined;
  /** Returns the log up to now; that of a deployment includes all its parts. Not available for a service that was running already. */
  log(): Promise<string>;
  /** The bytes of all that it keeps, encrypted or not; of a deployment, older blobs left out. Not of a service that ran already. */
  kept(): Promise<readonly Buffer[]>;
  /** The target of administrative commands, unless the service was running already. */
  readonly place: Place;
  readonly alice: Key;
  readonly bob: Key;
  /** The SDK as alice. */
  readonly client: S3Client;
  /** The SDK as bob. */
  readonly stranger: S3Client;
  sdk(key?: Key, config?: S3ClientConfig): S3Client;
  /** A new bucket of alice's. It goes, with all that is in it, when the test is over. */
  bucket(hint?: string): Promise<string>;
  /** As {@link bucket}, for `beforeAll`: it goes after the last test of the file. */
  lastingBucket(hint?: string): Promise<string>;
  /** A bucket for one of many rounds within a test. */
  temporaryBucket(): Promise<{ readonly name: string; remove(): Promise<void> }>;
  /** A name that no bucket has. If the test makes a bucket of it, that goes when the test is over. */
  freeName(hint?: string): string;
  /** Sends exact bytes, by default signed by alice. */
  send(request: Unsigned, signing?: Partial<Signing>): Promise<RawResponse>;
  /** Sends exact bytes, with the signature in the query. */
  sendPresigned(request: Unsigned, presigning?: Partial<Presigning>): Promise<RawResponse>;
  /** Sends exact bytes without credentials. */
  sendUnsigned(request: Unsigned): Promise<RawResponse>;
}

/** True if the tests run against a service that was running already, with its settings. */
const isGiven = (process.env['TEST_ENDPOINT'] ?? '') !== '';

/** True if tests cannot examine a process, a disk or a command line. */
export const isExternal = isCloud || isGiven;

/** True if a test can start a service with other than the default settings. */
export const takesSettings = !isGiven;

/** True if administrative commands reach the service. */
export const isAdministered = !isGiven;

/** True if tests can examine the service's log and stored data. */
export const isInspectable = !isGiven;

/**
 * To be called once, at the top of a file.
 * @param options of a service started for this file; without any, it shares one with others
 */
export function serviceUnderTest(options?: ServiceOptions): ServiceUnderTest {
  const [first, second] = keys();
  const clients = new Map<Key, S3Client>();
  let started: Service | undefined;
  let endpoint: string | undefined;
  let cloud: Deployed | undefined;
  let shared: SharedService | undefined;
  const begun = new Date(Math.floor(Date.now() / 1000) * 1000);

  beforeAll(async () => {
    if (isCloud) endpoint = (cloud = await deployed(options)).url;
    else if (isGiven) endpoint = process.env['TEST_ENDPOINT']!.replace(/\/$/, '');
    else if (options === undefined && (shared = sharedService())) endpoint = shared.url;
    else endpoint = (started = await startService(options)).url;
  });
  const lasting: string[] = [];
  afterAll(async () => {
    if (isExternal || shared) for (const name of lasting) await removeBucket(client(first), name);
    for (const client of clients.values()) client.destroy();
    await started?.stop();
  });

  const ownProcess = (): Service | undefined => {
    if (shared)
      throw new Error('Other files use this service, too: ask for one with `serviceUnderTest({ alone: true })`.');
    return started;
  };
  const url = (): string => {
    if (endpoint === undefined) throw new Error('The service runs from beforeAll on.');
    return endpoint;
  };
  const client = (key: Key): S3Client => {
    // Without repetitions, which would hide that the service answers 500 now and then.
    if (!clients.has(key)) clients.set(key, sdk({ url: url() }, key, { maxAttempts: 1 }));
    return clients.get(key)!;
  };
  const freeName = (hint?: string): string => {
    const name = bucketName(hint);
    onTestFinished(() => removeBucket(client(first), name));
    return name;
  };
  const host = (): string => new URL(url()).host;

  return {
    get url() {
      return url();
    },
    get ownUrl() {
      return isCloud ? url().replace(/^http:/, 'https:') : url();
    },
    domain: isCloud ? usualDomains.domain : 'localhost',
    websiteDomain: isCloud ? usualDomains.websiteDomain : 'website.localhost',
    get host() {
      return host();
    },
    get started() {
      return ownProcess();
    },
    log: async () => {
      if (cloud) return deployedLog(cloud.url);
      const { stdout, stderr } = ownProcess()!.output;
      return stdout + stderr;
    },
    kept: () => (cloud ? keptInCloud(cloud.kept, begun) : keptOnDisk(ownProcess()!.data)),
    get place() {
      return cloud?.place ?? started?.place ?? onData(shared!.data);
    },
    alice: first,
    bob: second,
    get client() {
      return client(first);
    },
    get stranger() {
      return client(second);
    },
    sdk: (key = first, config) => sdk({ url: url() }, key, config),
    freeName,
    bucket: async (hint) => {
      const name = freeName(hint);
      await client(first).send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    lastingBucket: async (hint) => {
      const name = bucketName(hint);
      lasting.push(name);
      await client(first).send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    temporaryBucket: async () => {
      const name = bucketName();
      await client(first).send(new CreateBucketCommand({ Bucket: name }));
      return { name, remove: () => removeBucket(client(first), name) };
    },
    send: (request, signing) => exchange(url(), signed(host(), request, { key: first, ...signing })),
    sendPresigned: (request, presigning) => exchange(url(), presigned(host(), request, { key: first, ...presigning })),
    sendUnsigned: (request) => exchange(url(), anonymous(host(), request)),
  };
}

/** Returns the service of this worker; none in a project of vitest.config.ts whose files share none. */
function sharedService(): SharedService | undefined {
  const services = inject('sharedServices');
  return services?.[(Number(process.env['VITEST_POOL_ID']) - 1) % services.length];
}

function keys(): readonly [Key, Key] {
  const json = process.env['TEST_KEYS'] ?? '';
  return json === '' ? [alice, bob] : (JSON.parse(json) as [Key, Key]);
}

/** Removes a bucket with everything in it, if it exists. */
export async function removeBucket(client: S3Client, name: string): Promise<void> {
  try {
    for (;;) {
      const page = await client.send(new ListObjectVersionsCommand({ Bucket: name, EncodingType: 'url' }));
      const all = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
      if (all.length === 0) break;
      const objects = all.map(({ Key, VersionId }) => ({ Key: decodeURIComponent(Key!), VersionId }));
      const [writable, others] = [objects.filter(fitsXml), objects.filter((object) => !fitsXml(object))];
      for (const object of others) await client.send(new DeleteObjectCommand({ Bucket: name, ...object }));
      if (writable.length === 0) continue;
      await client.send(new DeleteObjectsCommand({ Bucket: name, Delete: { Quiet: true, Objects: writable } }));
    }
    await client.send(new DeleteBucketCommand({ Bucket: name }));
  } catch (error) {
    if ((error as Error).name !== 'NoSuchBucket') throw error;
  }
}

/** A document cannot name keys with control characters. */
function fitsXml({ Key }: { readonly Key: string }): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u001f\ufffe\uffff]/.test(Key);
}
