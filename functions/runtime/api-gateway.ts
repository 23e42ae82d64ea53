import { createHash, timingSafeEqual } from 'node:crypto';
import { Fields, type RequestMessage, type ResponseMessage } from '../../shared/http/message.ts';
import { keptHeaders } from '../../shared/protocol/kept-headers.ts';

/**
 * What is used of the event that a REST API hands to a proxy integration
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html).
 * `path` and `pathParameters` are missing on purpose: the one loses a leading `//`, the other a trailing slash.
 */
export interface ProxyEvent {
  readonly httpMethod: string;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>> | null;
  /** Decoded. The raw query is nowhere. */
  readonly multiValueQueryStringParameters: Readonly<Record<string, readonly string[]>> | null;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  readonly requestContext: {
    /** As sent, with the stage or the base path of a custom domain before it. */
    readonly path: string;
    readonly identity: { readonly sourceIp: string };
  };
}

/** What a proxy integration answers. */
export interface ProxyResult {
  readonly statusCode: number;
  readonly multiValueHeaders: Readonly<Record<string, string[]>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Where an event arrived. */
export interface Addressee {
  /** The operation of the function: the first segment of its paths. */
  readonly operation: string;
  /** Proves that a request came through the router. Unset: there is no router. */
  readonly edgeSecret?: string | undefined;
}

/**
 * The request as the client sent it, as far as API Gateway lets it be known. With a router in front it is exact. Without
 * one the query is encoded anew from what was decoded: SDKs escape everything, so theirs comes out the same, but a bare `+`
 * arrives as a space.
 */
export function toRequestMessage(event: ProxyEvent, addressee: Addressee): RequestMessage {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const received = receivedFields(event);
  const kept = keptOriginals(received, addressee.edgeSecret);
  const fields = new Fields(original(received, kept));
  // API Gateway takes it away, and clients sign it.
  if (!fields.has('content-length')) fields.add('content-length', String(body.byteLength));
  return {
    method: event.httpMethod,
    target: kept?.target ?? withoutPrefix(event.requestContext.path, addressee.operation) + encodedQuery(event),
    fields,
    body: once(body),
    received: () => body.byteLength,
    // API Gateway listens on HTTPS only, and so must a router.
    secure: true,
    remoteAddress: kept?.address ?? event.requestContext.identity.sourceIp,
  };
}

function receivedFields({ multiValueHeaders }: ProxyEvent): Fields {
  const entries = Object.entries(multiValueHeaders ?? {});
  return new Fields(entries.flatMap(([name, values]) => values.map((value) => [name, asBytes(value)] as const)));
}

/** Characters that are no bytes were decoded from UTF-8 on the way. */
function asBytes(value: string): string {
  // eslint-disable-next-line no-control-regex -- every byte is meant
  return /^[\x00-\xff]*$/.test(value) ? value : Buffer.from(value).toString('latin1');
}

interface KeptOriginals {
  readonly target: string;
  readonly host: string;
  readonly authorization: string | undefined;
  readonly address: string;
}

/** @throws Error if the router proved itself and kept nothing */
function keptOriginals(fields: Fields, edgeSecret: string | undefined): KeptOriginals | undefined {
  const proof = fields.get(keptHeaders.proof);
  if (edgeSecret === undefined || proof === undefined || !sameSecret(proof, edgeSecret)) return undefined;
  return {
    target: required(fields, keptHeaders.target),
    host: required(fields, keptHeaders.host),
    authorization: fields.get(keptHeaders.authorization),
    address: required(fields, keptHeaders.address),
  };
}

function required(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new Error(`the router did not keep ${name}`);
  return value;
}

/** In a time that tells nothing. */
function sameSecret(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a!, b!);
}

const keptNames: ReadonlySet<string> = new Set(Object.values(keptHeaders));
const replacedNames: ReadonlySet<string> = new Set(['host', 'authorization']);

/** The fields that the client sent, as it sent them. */
function* original(received: Fields, kept: KeptOriginals | undefined): Generator<readonly [string, string]> {
  for (const [name, value] of received) {
    if (keptNames.has(name) || (kept && replacedNames.has(name))) continue;
    yield [name, value];
  }
  if (kept === undefined) return;
  yield ['host', kept.host];
  if (kept.authorization !== undefined) yield ['authorization', kept.authorization];
}

/** `/prod/GetObject/bucket//key/` → `/bucket//key/`. What stands before the operation is the stage or a base path. */
function withoutPrefix(path: string, operation: string): string {
  const prefix = `/${operation}`;
  for (let at = path.indexOf(prefix); at >= 0; at = path.indexOf(prefix, at + 1)) {
    const rest = path.slice(at + prefix.length);
    if (rest === '') return '/';
    if (rest.startsWith('/')) return rest;
  }
  throw new Error(`a path that does not name ${operation} arrived at its function`);
}

function encodedQuery({ multiValueQueryStringParameters }: ProxyEvent): string {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    values.map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

/** API Gateway says these itself. It would rename ours to `x-amzn-Remapped-…`, so HEAD cannot tell an object's length. */
const gatewayFields = new Set(['connection', 'content-length', 'date', 'server', 'transfer-encoding']);

/** The type of answers without one, which are empty. API Gateway would call them JSON. */
const emptyType = 'application/xml';

/**
 * The answer as API Gateway takes it, whole and in base64: the type of every body is binary there.
 *
 * @throws Error if the body is longer than `maximum`; what an answer's body throws passes through
 */
export async function toProxyResult({ status, fields, body }: ResponseMessage, maximum: number): Promise<ProxyResult> {
  const multiValueHeaders: Record<string, string[]> = {};
  for (const [name, value] of fields) if (!gatewayFields.has(name)) (multiValueHeaders[name] ??= []).push(value);
  multiValueHeaders['content-type'] ??= [emptyType];
  const bytes = await whole(body, maximum);
  return { statusCode: status, multiValueHeaders, body: bytes.toString('base64'), isBase64Encoded: true };
}

async function whole(body: ResponseMessage['body'], maximum: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of typeof body === 'string'
    ? [Buffer.from(body)]
    : body instanceof Uint8Array
      ? [body]
      : (body ?? [])) {
    size += chunk.byteLength;
    if (size > maximum) throw new Error(`an answer is longer than the ${maximum} bytes that a function can give`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
