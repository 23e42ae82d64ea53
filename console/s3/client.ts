import { isUnreachable, type Query } from './address.ts';
import { failureOf, offline, S3Failure } from './failure.ts';
import { formOf, parametersOf, type IamAction } from './iam-action.ts';
import { sha256Hex } from './secret-key.ts';
import { presign, signRequest, type Signer, type SignedRequest } from './sign.ts';
import { parseXml } from './xml.ts';
import type { XmlElement } from '../../shared/documents/element.ts';

/** A request before it is signed. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket?: string;
  readonly key?: string;
  readonly query?: Query;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A document; {@link S3Client.upload} sends the bytes of objects. */
  readonly body?: string;
  /** What a request to IAM asks, in place of a body. */
  readonly action?: IamAction;
  readonly signal?: AbortSignal | undefined;
  /** True for a request that does more if it is executed twice: it is repeated only if the service says that it did nothing. */
  readonly once?: boolean;
}

/** A sent request, as the activity page shows it. */
export interface RequestRecord {
  readonly id: number;
  readonly at: Date;
  readonly method: string;
  /** Path and query, without the signature. */
  readonly target: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly code: string;
  readonly request: S3Request;
}

/** Bytes of an object to send. */
export interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  /** Called with the number of bytes sent up to now. */
  readonly onProgress: (bytes: number) => void;
}

const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The maximum size of a body that is hashed, in bytes. Larger bodies are sent unsigned; their headers are signed. */
const maxHashed = 64 * 1024 * 1024;

/** The difference in milliseconds from which the clock of this machine counts as wrong: responses may take as long. */
const maxDelay = 30_000;

/** The attempts at a request if the service is busy, or if a request that changes nothing gets no response. */
const maxAttempts = 4;

/** Calls the API as one access key. */
export class S3Client {
  readonly signer: Signer;
  private readonly record: (record: RequestRecord) => void;
  private readonly onRejected: (failure: S3Failure) => void;
  /** The service's clock minus this machine's, in milliseconds. */
  private skew = 0;
  private count = 0;

  constructor(
    signer: Signer,
    listeners: {
      readonly record?: (record: RequestRecord) => void;
      /** Called for responses that refuse the access key itself, which may also be due to the request. */
      readonly rejected?: (failure: S3Failure) => void;
    } = {},
  ) {
    this.signer = signer;
    this.record = listeners.record ?? (() => undefined);
    this.onRejected = listeners.rejected ?? (() => undefined);
  }

  /** Sends a request and returns the response. @throws S3Failure for a status other than 2xx */
  async send(request: S3Request): Promise<Response> {
    const path = pathOf(request);
    const { body, type } = contentOf(request);
    const payloadHash = body === undefined ? emptyHash : await sha256Hex(body);
    for (let attempt = 1; ; attempt++) {
      const headers = { ...(body === undefined ? {} : { 'content-type': type }), ...request.headers };
      const service = request.action === undefined ? 's3' : 'iam';
      const unsigned = {
        service,
        method: request.method,
        path,
        query: queryOf(request),
        headers,
        payloadHash,
      } as const;
      const signed = await signRequest(this.signer, unsigned, this.now());
      const started = performance.now();
      try {
        const response = await this.fetch(request, signed, body);
        this.learnDate(response.headers);
        if (response.ok) {
          this.note(request, started, response.status, response.headers.get('x-amz-request-id') ?? '');
          return response;
        }
        const requestId = response.headers.get('x-amz-request-id') ?? '';
        throw failureOf(response.status, await response.text(), requestId);
      } catch (error) {
        const failure = toFailure(error);
        this.note(request, started, failure.status, failure.requestId, failure.code);
        if (attempt < maxAttempts && (await this.mayRepeat(request, failure, attempt))) continue;
        if (isOfKey(failure)) this.onRejected(failure);
        throw failure;
      }
    }
  }

  /** Sends a request and reads the document it returns. */
  async document(request: S3Request): Promise<XmlElement> {
    return parseXml(await (await this.send(request)).text());
  }

  /** Sends bytes, reporting progress, and returns the headers of the response. @throws S3Failure */
  async upload(upload: Upload): Promise<Headers> {
    const request: S3Request = {
      method: 'PUT',
      bucket: upload.bucket,
      key: upload.key,
      ...(upload.query && { query: upload.query }),
    };
    const path = pathOf(request);
    const payloadHash =
      upload.body.size <= maxHashed ? await sha256Hex(await upload.body.arrayBuffer()) : 'UNSIGNED-PAYLOAD';
    const unsigned = {
      service: 's3',
      method: 'PUT',
      path,
      query: queryOf(request),
      headers: { ...upload.headers },
      payloadHash,
    } as const;
    const signed = await signRequest(this.signer, unsigned, this.now());
    const started = performance.now();
    try {
      const isPart = upload.query?.['partNumber'] !== undefined;
      const headers = isPart ? await sendPart(signed, upload) : await sendWhole(signed, upload);
      this.note(request, started, 200, headers.get('x-amz-request-id') ?? '');
      return headers;
    } catch (error) {
      const failure = toFailure(error);
      this.note(request, started, failure.status, failure.requestId, failure.code);
      this.learnClock(failure);
      throw failure;
    }
  }

  /** Returns a URL that anybody can use to read, or with PUT to write, one object. @throws S3Failure */
  async presigned(
    request: Pick<S3Request, 'bucket' | 'key' | 'query'> & { readonly method: string },
    seconds: number,
  ): Promise<string> {
    const path = pathOf(request);
    return presign(
      this.signer,
      { method: request.method, path, ...(request.query && { query: request.query }) },
      seconds,
      this.now(),
    );
  }

  private now(): Date {
    return new Date(Date.now() + this.skew);
  }

  private fetch(request: S3Request, { url, headers }: SignedRequest, body: string | undefined): Promise<Response> {
    return fetch(url, {
      method: request.method,
      headers,
      ...(body !== undefined && { body }),
      ...(request.signal && { signal: request.signal }),
      credentials: 'omit',
      cache: storesHeaders(request) ? 'force-cache' : 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  }

  private async mayRepeat(request: S3Request, failure: S3Failure, attempt: number): Promise<boolean> {
    if (this.learnClock(failure)) return attempt === 1;
    const isBusy =
      failure.status === 503 || failure.code === 'Throttling' || (failure.status === 500 && request.once !== true);
    const isLost = failure.code === 'Offline' && (request.method === 'GET' || request.method === 'HEAD') && attempt < 3;
    if (request.signal?.aborted || !(isBusy || isLost)) return false;
    await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    return true;
  }

  /**
   * Adopts the service's clock if this machine's is wrong, long before the service refuses requests for it: otherwise a URL that is
   * valid for a few minutes could have expired when it is made.
   */
  private learnDate(headers: Headers): void {
    const ahead = Date.parse(headers.get('date') ?? '') - this.now().getTime();
    if (Math.abs(ahead) > maxDelay) this.skew += ahead;
  }

  /** Adopts the service's clock after a request was refused because of this machine's. */
  private learnClock(failure: S3Failure): boolean {
    const time = failure.code === 'RequestTimeTooSkewed' ? Date.parse(failure.serverTime) : NaN;
    if (Number.isNaN(time)) return false;
    this.skew = time - Date.now();
    return true;
  }

  private note(request: S3Request, started: number, status: number, requestId: string, code = ''): void {
    this.record({
      id: ++this.count,
      at: new Date(),
      method: request.method,
      target: targetOf(request),
      status,
      ms: Math.round(performance.now() - started),
      requestId,
      code,
      request,
    });
  }
}

/** Returns whether a failure is about the access key itself, and not about what was asked. */
export const isOfKey = ({ code }: S3Failure): boolean =>
  ['InvalidAccessKeyId', 'InvalidClientTokenId', 'SignatureDoesNotMatch', 'UserSuspended'].includes(code);

/** The body of a request, and its type. */
function contentOf({ body, action }: S3Request): { readonly body: string | undefined; readonly type: string } {
  if (action === undefined) return { body, type: 'application/xml' };
  return { body: formOf(action), type: 'application/x-www-form-urlencoded; charset=utf-8' };
}

function pathOf({ bucket, key }: Pick<S3Request, 'bucket' | 'key'>): string {
  if (bucket === undefined) return '/';
  if (key === undefined) return `/${bucket}`;
  if (isUnreachable(key)) {
    throw new S3Failure({ status: 0, code: 'UnreachableName', message: '', requestId: '' });
  }
  return `/${bucket}/${key}`;
}

/** Returns whether the headers of a request are stored with an object: it creates one, or begins to. */
const storesHeaders = ({ method, key, query = {} }: Pick<S3Request, 'method' | 'key' | 'query'>): boolean =>
  key !== undefined && (method === 'PUT' ? Object.keys(query).length === 0 : method === 'POST' && 'uploads' in query);

/**
 * Returns the query as it is sent. In every cache mode but `force-cache`, browsers send a Cache-Control, which the service would store with
 * an object. In that mode, though, Chromium answers a PUT with a cached response to a GET of the same address, and sends nothing. A request
 * whose headers are stored therefore has a unique address: the service ignores `x-id`, with which SDKs name their requests.
 */
function queryOf(request: Pick<S3Request, 'method' | 'key' | 'query'>): Query {
  const { query = {} } = request;
  return storesHeaders(request) ? { ...query, 'x-id': crypto.getRandomValues(new Uint32Array(4)).join('-') } : query;
}

/** `/bucket/key?list-type=2`, or `iam:ListUsers`: the readable form. */
function targetOf({ bucket, key, query, action }: S3Request): string {
  if (action !== undefined)
    return [`iam:${action.name}`, ...parametersOf(action).map((each) => each.join('='))].join(' ');
  const parameters = Object.entries(query ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = parameters.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&');
  const path = bucket === undefined ? '/' : key === undefined ? `/${bucket}` : `/${bucket}/${key}`;
  return text === '' ? path : `${path}?${text}`;
}

function toFailure(error: unknown): S3Failure {
  if (error instanceof S3Failure) return error;
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new S3Failure({ status: 0, code: 'Aborted', message: '', requestId: '' });
  }
  return offline();
}

/** Uses fetch, which unlike XMLHttpRequest can omit the Cache-Control that would be stored: {@link queryOf}. */
async function sendWhole({ url, headers }: SignedRequest, upload: Upload): Promise<Headers> {
  const response = await fetch(url, {
    method: 'PUT',
    headers,
    body: upload.body,
    signal: upload.signal,
    credentials: 'omit',
    cache: 'force-cache',
    redirect: 'error',
  });
  if (response.ok) return response.headers;
  throw failureOf(response.status, await response.text(), response.headers.get('x-amz-request-id') ?? '');
}

/** Uses XMLHttpRequest, since fetch does not report the progress of a body. The headers of a part are not stored. */
function sendPart({ url, headers }: SignedRequest, upload: Upload): Promise<Headers> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const abort = (): void => request.abort();
    upload.signal.addEventListener('abort', abort, { once: true });
    request.upload.onprogress = ({ loaded }) => upload.onProgress(loaded);
    request.onloadend = () => {
      upload.signal.removeEventListener('abort', abort);
      if (upload.signal.aborted) return reject(new DOMException('stopped', 'AbortError'));
      if (request.status === 0) return reject(offline());
      const response = new Headers(headersOf(request.getAllResponseHeaders()));
      if (request.status < 300) return resolve(response);
      reject(failureOf(request.status, request.responseText, response.get('x-amz-request-id') ?? ''));
    };
    if (upload.signal.aborted) return reject(new DOMException('stopped', 'AbortError'));
    request.send(upload.body);
  });
}

function headersOf(text: string): [string, string][] {
  return text
    .trim()
    .split('\r\n')
    .filter((line) => line.includes(':'))
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
}
