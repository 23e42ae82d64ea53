import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type * as S3 from '@aws-sdk/client-s3';
import {
  RequestRefused,
  type S3Address,
  type S3Endpoint,
  type S3Request,
  type S3Response,
} from '../../ports/s3-endpoint.ts';
import { failed, loadClient, persistently, statusOf, type LoadedClient } from './s3-client.ts';

/** How often a response that is an error is tried again, besides the SDK's own attempts: others may be answered meanwhile. */
const patienceWithErrors = 2;
/** Stands for the key of a request about a bucket until its path is set. */
const noKey = 'x';

/** A request of the SDK, as far as it is changed here. */
interface Built {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
}

/** An S3 that is reached by AWS's SDK, which signs requests and finds credentials. */
export class SdkEndpoint implements S3Endpoint {
  readonly name: string;
  readonly #address: Pick<S3Address, 'endpoint' | 'region'>;
  readonly #more: S3.S3ClientConfig | undefined;
  #loaded: Promise<LoadedClient> | undefined;

  /** @param more settings of the client, for a service in this process */
  constructor(name: string, address: Pick<S3Address, 'endpoint' | 'region'>, more?: S3.S3ClientConfig) {
    this.name = name;
    this.#address = address;
    this.#more = more;
  }

  async send(request: S3Request): Promise<S3Response> {
    return this.#calling(({ client, sdk }) => this.#once(client, sdk, request), {
      doing: request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write to',
      mayRepeat: request.body === undefined || request.body instanceof Uint8Array,
    });
  }

  async buckets(): Promise<readonly string[]> {
    const { Buckets: buckets = [] } = await this.#calling(
      ({ client, sdk }) => client.send(new sdk.ListBucketsCommand({})),
      { doing: 'list', mayRepeat: true },
    );
    return buckets.map(({ Name: name }) => name!);
  }

  /** Sends a request in the form of another, as each operation of the SDK interprets what it knows, and nothing else. */
  async #once(client: S3.S3Client, sdk: typeof S3, request: S3Request): Promise<S3Response> {
    const { method, bucket, key, query = {}, fields = {}, body } = request;
    const named = { Bucket: bucket, Key: key ?? noKey };
    const put = (): unknown => new sdk.PutObjectCommand({ ...named, ...bodyOf(body) });
    const command = method === 'PUT' ? (put() as S3.GetObjectCommand) : new sdk.GetObjectCommand(named);
    command.middlewareStack.add(
      (next) => (args) => {
        const built = args.request as Built;
        built.method = method;
        if (key === undefined) built.path = built.path.slice(0, -noKey.length);
        built.query = { ...query };
        if (body === undefined) delete built.headers['content-type'];
        Object.assign(built.headers, fields);
        return next(args);
      },
      { step: 'build', priority: 'low', name: 'asRequested' },
    );
    let received: Readonly<Record<string, string>> = {};
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        received = (result.response as { readonly headers: Readonly<Record<string, string>> }).headers;
        return result;
      },
      { step: 'deserialize', priority: 'high', name: 'asReceived' },
    );
    const { Body: answered } = await client.send(command);
    const bytes = answered as Readable | undefined;
    if (method !== 'GET') bytes?.resume();
    return { fields: received, bytes: bytes ?? Readable.from([]) };
  }

  async #calling<Result>(
    call: (loaded: LoadedClient) => Promise<Result>,
    { doing, mayRepeat }: { readonly doing: string; readonly mayRepeat: boolean },
  ): Promise<Result> {
    const loaded = await (this.#loaded ??= loadClient(this.#address, 'moves from and to an S3', {
      followRegionRedirects: true,
      ...this.#more,
    }));
    const patience = (status: number | undefined): number => (status === undefined ? Infinity : patienceWithErrors);
    return persistently(() => call(loaded), mayRepeat ? patience : () => 0).catch((cause: unknown) => {
      const status = statusOf(cause);
      if (status === undefined) throw failed(doing, this.name, cause);
      const { name, message } = cause as Error;
      throw new RequestRefused(status, name, message.split('\n', 1)[0]!);
    });
  }
}

function bodyOf(body: S3Request['body']): Partial<S3.PutObjectCommandInput> {
  if (body === undefined) return { ContentLength: 0 };
  if (!(body instanceof Uint8Array)) return { Body: Readable.from(body.bytes), ContentLength: body.length };
  // Settings of buckets must have a digest.
  return { Body: body, ContentLength: body.length, ContentMD5: createHash('md5').update(body).digest('base64') };
}
