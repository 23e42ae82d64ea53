import type { Auditor } from '../audit/audit-record.ts';
import { ClientGone } from '../errors/client-gone.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Target } from '../http/address.ts';
import { formatHttpDate } from '../http/fields/dates.ts';
import { isFieldName, isFieldValue } from '../http/fields/field-syntax.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../http/message.ts';
import { BlobsBusy } from '../ports/blob-store.ts';
import { isExhausted } from '../ports/exhausted.ts';
import { TableBusy } from '../ports/key-value-table.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { WholeBytes } from '../ports/whole-bytes.ts';
import { controlErrorDocument, errorDocument } from '../xml/error.ts';
import { errorPage } from '../xml/error-page.ts';
import type { RequestRecorder } from './access-log/access-log.ts';
import { AtCapacity } from './bodies/capacity/bodies-in-flight.ts';
import { actOf, dataActsOf, sourceActOf } from './audited.ts';
import { isCrossOrigin, responseCorsFields } from './console/cors.ts';
import { actualCorsFields } from './cors.ts';
import type { Answer, Services } from './operation.ts';
import { jsonRefusal } from './json-api/json-refusal.ts';
import { apiRefusal } from './query-api/api-refusal.ts';
import { RateExceeded } from './rate-limit.ts';
import type { RequestTrace } from './request-trace.ts';

/** The dependencies of {@link Responder}. */
export interface ResponderDeps {
  readonly services: Pick<Services, 'buckets' | 'clock' | 'settings'>;
  readonly telemetry: Telemetry;
  readonly consoleOrigins: ReadonlySet<string>;
  readonly hostId: string;
  /** Takes changes of identities, rights and settings down. Default: nobody does. */
  readonly audit?: Auditor | undefined;
  /** Takes requests down for the access logs of their buckets. Default: nobody does. */
  readonly accessLog?: RequestRecorder | undefined;
  /** Called with an error that ends a request in 503, since a store could not serve it. */
  readonly onRefusal?: (error: unknown) => void;
}

/** Turns the outcome of a request into its response, and writes its log line when the response ends. */
export class Responder {
  readonly #deps: ResponderDeps;
  #formatted = { second: NaN, date: '' };

  constructor(deps: ResponderDeps) {
    this.#deps = deps;
  }

  /** Renders an error as a response. No other place does. */
  refuse(error: unknown, trace: RequestTrace): Answer {
    const known = this.#asS3Error(error, trace);
    trace.code = known.code;
    const ids = { requestId: trace.requestId, hostId: this.#deps.hostId };
    const fields = [
      ...(known.status === 503 ? [['retry-after', '1'] as const] : []),
      // SDKs find out a bucket's region by an anonymous HEAD, which is refused for most buckets:
      // https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
      ...(trace.operation === 'HeadBucket' && trace.bucket
        ? [['x-amz-bucket-region', this.#deps.services.settings.region] as const]
        : []),
      ...Object.entries(known.headers),
    ];
    if (trace.target?.address.kind === 'website') {
      return { status: known.status, fields, html: errorPage(known, ids) };
    }
    if (trace.api === 'cloudtrail') return jsonRefusal(known, trace.requestId);
    if (trace.api) return apiRefusal(known, trace.api, trace.requestId);
    const context = { ...resourceOf(trace.target), ...ids };
    const xml = trace.isS3Control ? controlErrorDocument(known, context) : errorDocument(known, context);
    return { status: known.status, fields, xml };
  }

  #asS3Error(error: unknown, { requestId, operation }: RequestTrace): S3Error {
    const { telemetry } = this.#deps;
    if (error instanceof S3Error) {
      if (error.status === 500 || error.status === 503) telemetry.problem(error.code, error, { requestId, operation });
      if (error.status === 503) this.#deps.onRefusal?.(error);
      return error;
    }
    // For the log alone.
    if (error instanceof ClientGone) return new S3Error('RequestTimeout', { cause: error });
    // A client's exceeded rate is not the operator's problem. Of many requests beyond the capacity, the log has one line.
    if (error instanceof RateExceeded || error instanceof AtCapacity) return new S3Error('SlowDown', { cause: error });
    telemetry.problem('a request failed', error, { requestId, operation });
    if (error instanceof TableBusy || error instanceof BlobsBusy || isExhausted(error)) {
      this.#deps.onRefusal?.(error);
      return new S3Error('SlowDown', { cause: error });
    }
    return new S3Error('InternalError', { cause: error });
  }

  /** Returns the response to an outcome, with the fields that every response has. */
  respond(request: RequestMessage, trace: RequestTrace, answer: Answer): ResponseMessage | Promise<ResponseMessage> {
    if (!isCrossOrigin(request)) return this.#secured(request, trace, answer, []);
    const { consoleOrigins } = this.#deps;
    return responseCorsFields(request, consoleOrigins, () => this.#corsFields(request, trace)).then((corsFields) =>
      this.#secured(request, trace, answer, corsFields),
    );
  }

  /** Returns a response; where no act may be without a record, one that is not taken down is not answered as done. */
  #secured(
    request: RequestMessage,
    trace: RequestTrace,
    answer: Answer,
    corsFields: CorsFields,
  ): ResponseMessage | Promise<ResponseMessage> {
    const response = this.#response(request, trace, answer, corsFields);
    const { audit } = this.#deps;
    if (audit?.secured === undefined || trace.isTakenDown === undefined || response.status >= 400) return response;
    const isTakenDown = trace.isTakenDown ? audit.secured() : Promise.resolve(false);
    return isTakenDown.then((isSecure) => {
      if (isSecure) return response;
      const refusal = this.refuse(new S3Error('ServiceUnavailable'), trace);
      return this.#response(request, trace, refusal, corsFields, { isLogged: false });
    });
  }

  #response(
    request: RequestMessage,
    trace: RequestTrace,
    answer: Answer,
    corsFields: CorsFields,
    { isLogged = true }: { readonly isLogged?: boolean } = {},
  ): ResponseMessage {
    const status = answer.status ?? 200;
    const bodiless = request.method === 'HEAD' || status === 204 || status === 304;
    const fields = new Fields();
    this.#add(fields, trace, [
      ['x-amz-request-id', trace.requestId],
      ['x-amz-id-2', this.#deps.hostId],
      ['date', this.#date()],
      ['server', 'Stillage'],
    ]);
    if (answer.fields) this.#add(fields, trace, answer.fields);
    this.#add(fields, trace, corsFields);
    const text = answer.xml ?? answer.html;
    if (text !== undefined) {
      fields.add('content-type', answer.xml === undefined ? 'text/html; charset=utf-8' : 'application/xml');
      // HEAD states the length that GET would send.
      if (bodiless && status >= 300 && isWhole(text)) fields.add('content-length', String(Buffer.byteLength(text)));
    }
    const chunked = answer.xml !== undefined && status < 300 ? true : undefined;
    const body = bodiless ? undefined : (text ?? (answer.body instanceof WholeBytes ? answer.body.bytes : answer.body));
    const ended = isLogged ? this.#deps.accessLog?.begin(request, trace, { status, fields }) : undefined;
    if (body === undefined || isWhole(body)) {
      const bytes = body === undefined ? 0 : Buffer.byteLength(body);
      if (isLogged) this.#log(request, trace, status, bytes);
      ended?.(bytes);
      return { status, fields, body, chunked };
    }
    return { status, fields, body: this.#streamed(request, trace, status, body, ended), chunked };
  }

  /** Returns the time for a response, formatted once a second. */
  #date(): string {
    const now = this.#deps.services.clock.now();
    const second = Math.floor(now / 1000);
    if (second !== this.#formatted.second) this.#formatted = { second, date: formatHttpDate(now) };
    return this.#formatted.date;
  }

  /** Adds the fields that HTTP permits. Transports would reject the whole response for one that it does not: that is reported. */
  #add(
    sendable: Fields,
    { requestId, operation }: RequestTrace,
    fields: Iterable<readonly [name: string, value: string]>,
  ): void {
    for (const [name, value] of fields) {
      if (isFieldName(name) && isFieldValue(value)) sendable.add(name, value);
      else {
        const error = new Error(`the field ${JSON.stringify(name)} has a name or a value that HTTP does not permit`);
        this.#deps.telemetry.problem('a field of the answer cannot be sent', error, { requestId, operation });
      }
    }
  }

  /** Returns what the bucket's CORS rules add to a response. Without them, the response is still valid. */
  async #corsFields(request: RequestMessage, trace: RequestTrace): Promise<readonly (readonly [string, string])[]> {
    const { buckets } = this.#deps.services;
    const name = bucketNameOf(trace);
    if (name === undefined) return [];
    try {
      return await actualCorsFields(request, () => buckets.recent(name), buckets);
    } catch (error) {
      const { requestId, operation } = trace;
      this.#deps.telemetry.problem('no CORS rules could be read', error, { requestId, operation });
      return [];
    }
  }

  /** Returns a body that is sent as it is read. The request is logged when it ends, or when the reader gives up. */
  async *#streamed(
    request: RequestMessage,
    trace: RequestTrace,
    status: number,
    body: AsyncIterable<Uint8Array>,
    ended: ((bytesSent: number) => void) | undefined,
  ): AsyncGenerator<Uint8Array> {
    let sent = 0;
    try {
      for await (const chunk of body) {
        sent += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      const { requestId, operation } = trace;
      trace.code = 'InternalError';
      this.#deps.telemetry.problem('a response broke off', error, { requestId, operation });
      throw error;
    } finally {
      this.#log(request, trace, status, sent);
      ended?.(sent);
    }
  }

  /** Of a copy that was refused before the bucket that it is made from was read, nobody has tried to read the source, and nothing is read for it. */
  #auditSource(audit: Auditor, request: RequestMessage, trace: RequestTrace, status: number): void {
    trace.copied!.seen()?.then(
      (source) => {
        const act = sourceActOf(request, trace, source, status);
        if (act) audit.record(act);
      },
      // There is no such bucket, or it cannot be read: nobody knows whether it asks for records.
      () => undefined,
    );
  }

  #log(request: RequestMessage, trace: RequestTrace, status: number, bytesOut: number): void {
    const { audit } = this.#deps;
    const act = audit && actOf(request, trace, status);
    if (act) trace.isTakenDown = audit.record(act);
    if (audit && trace.bucket?.audited !== undefined)
      for (const one of dataActsOf(request, trace, status)) audit.record(one);
    if (audit && trace.copied) this.#auditSource(audit, request, trace, status);
    const { caller, code } = trace;
    const user = caller.kind === 'user' ? caller : undefined;
    this.#deps.telemetry.request({
      requestId: trace.requestId,
      operation: trace.operation,
      method: request.method,
      status,
      code,
      project: user?.project.email,
      user: user?.name,
      bucket: bucketNameOf(trace),
      payer: trace.bucket?.project ?? user?.project.id,
      bytesIn: request.received?.() ?? 0,
      bytesOut,
      milliseconds: this.#deps.services.clock.now() - trace.startedAt,
    });
  }
}

type CorsFields = readonly (readonly [string, string])[];

function isWhole(body: string | Uint8Array | AsyncIterable<Uint8Array>): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** Returns the name of the bucket that a request names, or turned out to be about. */
function bucketNameOf({ bucket, target }: RequestTrace): string | undefined {
  if (bucket) return bucket.name;
  return target && 'bucket' in target.address ? target.address.bucket : undefined;
}

function resourceOf(target: Target | undefined): { resource?: string; bucket?: string; key?: string } {
  if (target === undefined) return {};
  const { address, rawPath } = target;
  return {
    resource: rawPath,
    ...('bucket' in address && { bucket: address.bucket }),
    ...('key' in address && { key: address.key }),
  };
}
