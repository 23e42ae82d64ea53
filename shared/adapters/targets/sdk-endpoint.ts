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
  body?: unknown;
}

/** An S3 that is reached by AWS's SDK, which signs requests and finds credentials. */
export class SdkEndpoint implements S3Endpoint {
  readonly name: string;
  readonly #address: Pick<S3Address, 'endpoint' | 'region'>;
  readonly #more: S3.S3ClientConfig | undefined;
  #loaded: Promise<LoadedClient> | undefined;
  /** Tries nothing again. */
  #loadedOnce: Promise<LoadedClient> | undefined;

  /** @param more settings of the client, for a service in this process */
  constructor(name: string, address: Pick<S3Address, 'endpoint' | 'region'>, more?: S3.S3ClientConfig) {
    this.name = name;
    this.#address = address;
    this.#more = more;
  }

  async send(request: S3Request): Promise<S3Response> {
    return this.#calling(({ client, sdk }) => this.#sent(client, sdk, request), {
      once: request.once ?? false,
      doing: request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write to',
      mayRepeat: request.once !== true && (request.body === undefined || request.body instanceof Uint8Array),
    });
  }

  async buckets(): Promise<readonly string[]> {
    const { Buckets: buckets = [] } = await this.#calling(
      ({ client, sdk }) => client.send(new sdk.ListBucketsCommand({})),
      { once: false, doing: 'list', mayRepeat: true },
    );
    return buckets.map(({ Name: name }) => name!);
  }

  /** Sends a request in the form of another, as each operation of the SDK interprets what it knows, and nothing else. */
  async #sent(client: S3.S3Client, sdk: typeof S3, request: S3Request): Promise<S3Response> {
    const { method, bucket, key, query = {}, fields = {}, body } = request;
    const named = { Bucket: bucket, Key: key ?? noKey };
    const sending = new Sending(body);
    const put = (): unknown => new sdk.PutObjectCommand({ ...named, ...sending.input });
    const command = method === 'PUT' ? (put() as S3.GetObjectCommand) : new sdk.GetObjectCommand(named);
    command.middlewareStack.add(
      (next) => (args) => {
        const built = args.request as Built;
        built.method = method;
        if (key === undefined) built.path = built.path.slice(0, -noKey.length);
        built.query = { ...query };
        if (body === undefined) delete built.headers['content-type'];
        if (method === 'POST') {
          const bytes = (body as Uint8Array | undefined) ?? new Uint8Array();
          built.body = bytes;
          built.headers['content-length'] = String(bytes.byteLength);
        }
        // The SDK signs text, of which it hashes UTF-8.
        for (const [name, value] of Object.entries(fields)) built.headers[name] = textOf(value);
        return next(args);
      },
      { step: 'build', priority: 'low', name: 'asRequested' },
    );
    command.middlewareStack.add(
      (next) => (args) => {
        const { headers } = args.request as Built;
        for (const [name, value] of Object.entries(fields)) headers[name] = value;
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name: 'asBytes' },
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
    const { Body: answered } = await sending.through((abortSignal) => client.send(command, { abortSignal }));
    const bytes = answered as Readable | undefined;
    if (method !== 'GET' && method !== 'POST') bytes?.resume();
    return { fields: received, bytes: bytes ?? Readable.from([]) };
  }

  #load(more: S3.S3ClientConfig = {}): Promise<LoadedClient> {
    return loadClient(this.#address, 'moves from and to an S3', {
      followRegionRedirects: true,
      ...this.#more,
      ...more,
    });
  }

  async #calling<Result>(
    call: (loaded: LoadedClient) => Promise<Result>,
    { once, doing, mayRepeat }: { readonly once: boolean; readonly doing: string; readonly mayRepeat: boolean },
  ): Promise<Result> {
    const loaded = await (once
      ? (this.#loadedOnce ??= this.#load({ maxAttempts: 1 }))
      : (this.#loaded ??= this.#load()));
    const patience = (status: number | undefined): number => (status === undefined ? Infinity : patienceWithErrors);
    return persistently(() => call(loaded), mayRepeat ? patience : () => 0).catch((cause: unknown) => {
      if (cause instanceof BodyFailed) throw cause.cause;
      const status = statusOf(cause);
      if (status === undefined) throw failed(doing, this.name, cause);
      const { name, message } = cause as Error;
      throw new RequestRefused(status, name, message.split('\n', 1)[0]!);
    });
  }
}

/** The body of a request could not be read. */
class BodyFailed extends Error {}

/** The body of a request, while it is sent. */
class Sending {
  readonly input: Partial<S3.PutObjectCommandInput>;
  readonly #aborter = new AbortController();
  #failure: BodyFailed | undefined;

  constructor(body: S3Request['body']) {
    this.input = inputOf(body);
    const { Body: stream } = this.input;
    // The SDK's client does not look for errors of what it reads.
    if (stream instanceof Readable) {
      stream.on('error', (cause) => {
        this.#failure = new BodyFailed('the body cannot be read', { cause });
        this.#aborter.abort();
      });
    }
  }

  /** @throws BodyFailed */
  async through<Result>(send: (aborted: AbortSignal) => Promise<Result>): Promise<Result> {
    try {
      return await send(this.#aborter.signal);
    } catch (error) {
      throw this.#failure ?? error;
    } finally {
      const { Body: stream } = this.input;
      if (stream instanceof Readable) stream.destroy();
    }
  }
}

function inputOf(body: S3Request['body']): Partial<S3.PutObjectCommandInput> {
  if (body === undefined) return { ContentLength: 0 };
  if (!(body instanceof Uint8Array)) return { Body: Readable.from(body.bytes), ContentLength: body.length };
  // Settings of buckets must have a digest.
  return { Body: body, ContentLength: body.length, ContentMD5: createHash('md5').update(body).digest('base64') };
}

/** Returns the text of a header in UTF-8, whose bytes are latin1 characters. */
function textOf(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
