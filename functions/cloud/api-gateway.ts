import { Fields, type RequestMessage, type ResponseMessage } from '../../shared/http/message.ts';
import { AnnouncedLength } from '../../shared/node-http/announced-length.ts';
import type { OriginSecret } from './origin-secret.ts';
import { originalsOf } from './through-router.ts';

/**
 * The used fields of the event that a REST API passes to a proxy integration
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html).
 * Path and query are deliberately absent: API Gateway decodes and collapses them. The router keeps what was signed.
 */
export interface ProxyEvent {
  readonly httpMethod: string;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>> | null;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
}

/** The response of a proxy integration. */
export interface ProxyResult {
  readonly statusCode: number;
  readonly multiValueHeaders: Readonly<Record<string, string[]>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Returns the request as the client sent it; undefined if it did not come through the distribution. */
export async function toRequestMessage(event: ProxyEvent, edge: OriginSecret): Promise<RequestMessage | undefined> {
  const originals = await originalsOf(receivedFields(event), edge);
  if (originals === undefined) return undefined;
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  // Without a length, the client sent its body in chunks, which API Gateway does not report.
  if (body.byteLength > 0 && !originals.fields.has('content-length'))
    originals.fields.add('transfer-encoding', 'chunked');
  return { ...originals, method: event.httpMethod, body: once(body), received: () => body.byteLength };
}

function receivedFields({ multiValueHeaders }: ProxyEvent): Fields {
  const entries = Object.entries(multiValueHeaders ?? {});
  return new Fields(entries.flatMap(([name, values]) => values.map((value) => [name, asBytes(value)] as const)));
}

/** Encodes fields that were decoded from UTF-8 on the way, that is, contain characters beyond a byte. */
function asBytes(value: string): string {
  // eslint-disable-next-line no-control-regex -- every byte is meant
  return /^[\x00-\xff]*$/.test(value) ? value : Buffer.from(value).toString('latin1');
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

/** Fields that API Gateway sets. It would rename ours to `x-amzn-Remapped-…`, so HEAD cannot return an object's length. */
const gatewayFields = new Set(['connection', 'content-length', 'date', 'server', 'transfer-encoding']);

/** The type of responses without one, which are empty. API Gateway would call them JSON. */
const emptyType = 'application/xml';

/**
 * Returns a response for API Gateway, complete and in base64, as bodies of every type are binary there.
 *
 * @param method the method of the request
 * @throws WrongLength if the body has another length than announced, Error if it is longer than `maximum`, and any error of the body
 */
export async function toProxyResult(answer: ResponseMessage, method: string, maximum: number): Promise<ProxyResult> {
  const { status, fields, body } = answer;
  const multiValueHeaders: Record<string, string[]> = {};
  for (const [name, value] of fields) if (!gatewayFields.has(name)) (multiValueHeaders[name] ??= []).push(value);
  multiValueHeaders['content-type'] ??= [emptyType];
  const bytes = await whole(body, new AnnouncedLength(method, answer), maximum);
  return { statusCode: status, multiValueHeaders, body: bytes.toString('base64'), isBase64Encoded: true };
}

async function whole(body: ResponseMessage['body'], length: AnnouncedLength, maximum: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of typeof body === 'string'
    ? [Buffer.from(body)]
    : body instanceof Uint8Array
      ? [body]
      : (body ?? [])) {
    length.count(chunk.byteLength);
    size += chunk.byteLength;
    if (size > maximum) throw new Error(`a response is longer than ${maximum} bytes, the limit of a function`);
    chunks.push(chunk);
  }
  length.end();
  return Buffer.concat(chunks);
}
