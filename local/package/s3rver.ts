import { EventEmitter } from 'node:events';
import { resolveTarget } from '../../shared/http/address.ts';
import type { RequestMessage, ResponseMessage } from '../../shared/http/message.ts';
import { findRoute } from '../../shared/protocol/routes.ts';
import { startObserved, type Stillage } from './embedded.ts';
import { signedFetch } from './signed-fetch.ts';

/** A bucket to create at the start, with its CORS rules or website configuration as XML. */
export interface BucketConfiguration {
  readonly name: string;
  readonly configs?: readonly (string | Uint8Array)[];
}

/** The options of s3rver. Those that have no effect are listed in docs/moving.md. */
export interface S3rverOptions {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly silent?: boolean;
  readonly serviceEndpoint?: string;
  readonly directory?: string;
  readonly resetOnClose?: boolean;
  readonly allowMismatchedSignatures?: boolean;
  readonly vhostBuckets?: boolean;
  readonly configureBuckets?: readonly BucketConfiguration[];
}

/** An event record in the format of S3's notifications. */
export interface EventRecord {
  readonly eventVersion: string;
  readonly eventSource: 'aws:s3';
  readonly eventTime: string;
  readonly eventName: string;
  readonly s3: {
    readonly s3SchemaVersion: '1.0';
    readonly bucket: { readonly name: string; readonly arn: string };
    readonly object: {
      readonly key: string;
      readonly size?: number;
      readonly eTag?: string;
      readonly sequencer: string;
    };
  };
}

type Callback<Value> = (error: Error | null, value?: Value) => void;
interface Address {
  readonly address: string;
  readonly family: string;
  readonly port: number;
}

/** The operations with events, and their names in s3rver. */
const eventNames: ReadonlyMap<string, string> = new Map([
  ['PutObject', 'ObjectCreated:Put'],
  ['PostObject', 'ObjectCreated:Post'],
  ['CopyObject', 'ObjectCreated:Copy'],
  ['CompleteMultipartUpload', 'ObjectCreated:CompleteMultipartUpload'],
  ['DeleteObject', 'ObjectRemoved:Delete'],
]);

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i;

/** A replacement of s3rver's class, with its access key (S3RVER, S3RVER). All data is in memory. */
export default class S3rver extends EventEmitter {
  static readonly defaultOptions: S3rverOptions = {
    address: 'localhost',
    port: 4568,
    silent: false,
    configureBuckets: [],
  };
  readonly options: S3rverOptions;
  #running: Promise<Stillage> | undefined;
  #events = 0;

  constructor(options: S3rverOptions = {}) {
    super();
    const { allowMismatchedSignatures } = options;
    if (allowMismatchedSignatures) {
      throw new TypeError(
        'allowMismatchedSignatures: wrong signatures are refused, as by S3; sign with S3RVER and S3RVER',
      );
    }
    const forHttps = ['key', 'cert', 'pfx'].find((name) => Object.hasOwn(options, name));
    if (forHttps !== undefined) {
      throw new TypeError(`${forHttps}: for HTTPS, use startStillage({ tlsCert, tlsKey }) of stillage`);
    }
    this.options = { ...S3rver.defaultOptions, ...options };
  }

  /** Starts the service and configures the buckets. @returns the address that it listens on */
  run(callback?: Callback<Address>): Promise<Address> {
    return answered(this.#run(), callback);
  }

  /** Stops the service. Its data is lost. */
  close(callback?: Callback<void>): Promise<void> {
    return answered(this.#close(), callback);
  }

  /** Restores the configured buckets. Unlike s3rver's, it must be awaited. */
  async reset(): Promise<void> {
    const stillage = await this.#started();
    await stillage.reset();
    await this.configureBuckets();
  }

  /** Puts the configurations of the buckets. */
  async configureBuckets(): Promise<void> {
    const { clientConfig } = await this.#started();
    for (const { name, configs = [] } of this.options.configureBuckets ?? []) {
      for (const config of configs) {
        const xml = Buffer.from(config);
        await signedFetch(clientConfig, 'PUT', `/${name}?${subresourceOf(xml.toString())}`, xml);
      }
    }
  }

  async #run(): Promise<Address> {
    const { address: host = 'localhost', port = 4568, configureBuckets = [], serviceEndpoint, silent } = this.options;
    if (!loopback.test(host)) {
      process.emitWarning(
        `S3rver listens on ${host} with an access key that everybody knows (S3RVER, S3RVER): use address 'localhost', or startStillage.`,
        'StillageWarning',
      );
    }
    this.#running ??= startObserved(
      {
        host,
        port,
        ephemeral: true,
        buckets: configureBuckets.map(({ name }) => name),
        credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
        ...(serviceEndpoint !== undefined && { domain: `s3.${serviceEndpoint}` }),
        ...(silent !== true && { log: (line) => void process.stderr.write(`${JSON.stringify(line)}\n`) }),
      },
      (request, response) => this.#observe(request, response),
    );
    const { endpoint } = await this.#running.catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    await this.configureBuckets();
    const { hostname, port: taken } = new URL(endpoint);
    const address = hostname.replaceAll(/[[\]]/g, '');
    return { address, family: address.includes(':') ? 'IPv6' : 'IPv4', port: Number(taken) };
  }

  async #close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await (await running)?.stop();
  }

  #started(): Promise<Stillage> {
    return this.#running ?? Promise.reject(new Error('the service is not running: call run() first'));
  }

  #observe({ method, target, fields }: RequestMessage, { status, fields: answer }: ResponseMessage): void {
    if (status >= 300 || this.listenerCount('event') === 0) return;
    const domain = this.options.serviceEndpoint === undefined ? 'localhost' : `s3.${this.options.serviceEndpoint}`;
    const names = { domain, websiteDomain: 'website.localhost' };
    const { address, query } = resolveTarget(target, fields.get('host'), names);
    const eventName = eventNames.get(findRoute(address, method, query, fields));
    if (eventName === undefined || !('bucket' in address)) return;
    // A form has the key in its body, so the key is taken from the response.
    const key = 'key' in address ? address.key : keyOf(answer.get('location'), address.bucket);
    if (key === undefined) return;
    const length = fields.get('x-amz-decoded-content-length') ?? fields.get('content-length');
    const eTag = answer.get('etag')?.replaceAll('"', '');
    this.#events += 1;
    const record: EventRecord = {
      eventVersion: '2.0',
      eventSource: 'aws:s3',
      eventTime: new Date().toISOString(),
      eventName,
      s3: {
        s3SchemaVersion: '1.0',
        bucket: { name: address.bucket, arn: `arn:aws:s3:::${address.bucket}` },
        object: {
          key,
          ...(eventName === 'ObjectCreated:Put' && { size: Number(length) }),
          ...(eTag !== undefined && { eTag }),
          sequencer: this.#events.toString(16).toUpperCase().padStart(16, '0'),
        },
      },
    };
    this.emit('event', { Records: [record] });
  }
}

function subresourceOf(xml: string): string {
  if (xml.includes('<CORSConfiguration')) return 'cors';
  if (xml.includes('<WebsiteConfiguration')) return 'website';
  throw new TypeError('configs: Must be the XML of a CORSConfiguration or a WebsiteConfiguration.');
}

function keyOf(location: string | undefined, bucket: string): string | undefined {
  if (location === undefined) return undefined;
  const path = new URL(location, 'http://localhost').pathname.slice(1);
  return decodeURIComponent(path.startsWith(`${bucket}/`) ? path.slice(bucket.length + 1) : path);
}

/** Returns a promise, and calls back if a callback is given. */
function answered<Value>(promise: Promise<Value>, callback: Callback<Value> | undefined): Promise<Value> {
  if (callback) {
    promise.then(
      (value) => callback(null, value),
      (error: Error) => callback(error),
    );
  }
  return promise;
}
