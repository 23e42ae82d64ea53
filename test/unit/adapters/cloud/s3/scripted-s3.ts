import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3ClientConfig } from '@aws-sdk/client-s3';

interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface ScriptedS3Options {
  /** The upload of this part is refused. */
  readonly refusedPart?: number;
  /** How every upload is answered: a status and a code, or a connection that breaks. */
  readonly uploadsFail?: readonly [number, string] | 'ECONNRESET';
  /** Aborting an upload is refused too. */
  readonly refusesAbort?: boolean;
  /** The key of an object for which DeleteObjects reports an error, with the status 200. */
  readonly undeletable?: string;
  /** The number of the DeleteObjects, from 1, that gets no answer but 503. */
  readonly failingDelete?: number;
}

/** A stand-in for the upload operations of S3, behind the real SDK client. Records the requests. */
export class ScriptedS3 {
  /** `PutObject`, `UploadPart 1` …, in the order of arrival. */
  readonly requests: string[] = [];
  /** The largest number of parts that were on their way at once. */
  mostInFlight = 0;
  readonly partSizes: number[] = [];
  readonly checksums: (string | undefined)[] = [];
  metadata: Record<string, string> = {};
  completed = '';
  /** How many keys each DeleteObjects had, and the keys that are gone. */
  readonly deletions: number[] = [];
  readonly deleted: string[] = [];
  #inFlight = 0;
  readonly #options: ScriptedS3Options;

  constructor(options: ScriptedS3Options = {}) {
    this.#options = options;
  }

  /** The settings of a client that talks to this script. */
  get client(): S3ClientConfig {
    const requestHandler = {
      metadata: { handlerProtocol: 'http/1.1' },
      handle: async (request: HttpRequest) => ({ response: await this.#answer(request) }),
      updateHttpClientConfig: () => undefined,
      httpHandlerConfigs: () => ({}),
    };
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    return { region: 'us-east-1', credentials, maxAttempts: 1, requestHandler: requestHandler as never };
  }

  async #answer(request: HttpRequest) {
    const { method, query, headers, body = '' } = request;
    if (method === 'POST' && query['delete'] !== undefined) return this.#delete(String(body));
    const { uploadsFail } = this.#options;
    if (method === 'PUT' && uploadsFail === 'ECONNRESET')
      throw Object.assign(new Error('reset'), { code: uploadsFail });
    if (method === 'PUT' && typeof uploadsFail === 'object')
      return http(uploadsFail[0], `<Error><Code>${uploadsFail[1]}</Code></Error>`);
    if (method === 'PUT' && query['partNumber'] !== undefined) return this.#part(Number(query['partNumber']), request);
    if (method === 'PUT' || (method === 'POST' && query['uploads'] !== undefined)) {
      this.requests.push(method === 'PUT' ? 'PutObject' : 'CreateMultipartUpload');
      if (method === 'PUT') this.checksums.push(headers['x-amz-checksum-crc32']);
      for (const [name, value] of Object.entries(headers)) {
        if (name.startsWith('x-amz-meta-')) this.metadata[name.slice('x-amz-meta-'.length)] = value;
      }
      return http(200, '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
    }
    if (method === 'DELETE') {
      this.requests.push('AbortMultipartUpload');
      return this.#options.refusesAbort ? http(500, '<Error><Code>InternalError</Code></Error>') : http(204, '');
    }
    this.requests.push('CompleteMultipartUpload');
    this.completed = typeof body === 'string' ? body : new TextDecoder().decode(body);
    return http(200, '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>');
  }

  /** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html: in quiet mode the answer has only the keys with an error. */
  #delete(body: string) {
    const keys = [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!);
    this.deletions.push(keys.length);
    if (keys.length > 1000) return http(400, '<Error><Code>MalformedXML</Code></Error>');
    if (this.deletions.length === this.#options.failingDelete) return http(503, '<Error><Code>SlowDown</Code></Error>');
    const failed = keys.filter((key) => key === this.#options.undeletable);
    this.deleted.push(...keys.filter((key) => !failed.includes(key)));
    const errors = failed.map(
      (key) => `<Error><Key>${key}</Key><Code>InternalError</Code><Message>again</Message></Error>`,
    );
    return http(200, `<DeleteResult>${errors.join('')}</DeleteResult>`);
  }

  async #part(number: number, { headers, body = '' }: HttpRequest) {
    this.requests.push(`UploadPart ${number}`);
    this.partSizes[number - 1] = body.length;
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
    await sleep(5);
    this.#inFlight--;
    if (number === this.#options.refusedPart) return http(403, '<Error><Code>AccessDenied</Code></Error>');
    return http(200, '', { etag: `"${number}"`, 'x-amz-checksum-crc32': headers['x-amz-checksum-crc32'] ?? '' });
  }
}

function http(statusCode: number, body: string, headers: Record<string, string> = {}) {
  return { statusCode, headers, body: Readable.from([Buffer.from(body)]) };
}
