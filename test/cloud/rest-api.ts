import { randomUUID } from 'node:crypto';
import type { ProxyEvent, ProxyResult } from '../../functions/cloud/api-gateway.ts';

/*
 * The changes that a REST API of API Gateway makes to requests to a function, and to its responses, as recorded:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
 * https://github.com/localstack/localstack/blob/v4.0.0/tests/aws/services/apigateway/test_apigateway_lambda.snapshot.json
 */

/** A request as API Gateway receives it. */
export interface ApiRequest {
  readonly method: string;
  /** Raw path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly sourceIp: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The maximum sizes of all headers of a request together, and of its body: a larger request is refused before any function. */
const headerSectionBytes = 10_240;
const bodyBytes = 10_000_000;

/** Why API Gateway itself refuses a request: a status; undefined if it does not. */
export function refusal({ headers, body }: ApiRequest, host: string): number | undefined {
  const size = headers.reduce((sum, [name, value]) => sum + name.length + value.length + ': \r\n'.length, 0);
  if (size > headerSectionBytes) return 431;
  if (body.length > bodyBytes) return 413;
  return headers.some(([name, value]) => name.toLowerCase() === 'host' && value === host) ? undefined : 403;
}

/** API Gateway keeps these to itself. */
const swallowed = new Set(['content-length', 'expect', 'transfer-encoding', 'connection', 'te']);

/** The event of a request to the path of a function, with every quirk. */
export function toEvent(request: ApiRequest, stage: string): ProxyEvent & Readonly<Record<string, unknown>> {
  const [path, query] = split(request.target);
  const headers = [...request.headers, ...addedHeaders(request)].filter(
    ([name, value]) => !swallowed.has(name.toLowerCase()) && !isSignature(name, value),
  );
  const multiValueHeaders = grouped(headers);
  const multiValueQueryStringParameters = query === '' ? null : grouped(decoded(query));
  return {
    resource: path,
    path: path.replace(/^\/+/, '/'),
    pathParameters: null,
    httpMethod: request.method,
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: multiValueQueryStringParameters && lastOf(multiValueQueryStringParameters),
    multiValueQueryStringParameters,
    body: request.body.length === 0 ? null : request.body.toString('base64'),
    isBase64Encoded: request.body.length > 0,
    stageVariables: null,
    requestContext: {
      path: `/${stage}${path}`,
      stage,
      identity: { sourceIp: request.sourceIp },
    },
  };
}

/** "The Authorization header is dropped if it contains a Signature Version 4 signature." */
function isSignature(name: string, value: string): boolean {
  return name.toLowerCase() === 'authorization' && value.startsWith('AWS4-HMAC-SHA256');
}

/** Returns the response to a client for the result of a function. */
export function toResponse(result: ProxyResult): ApiResponse {
  const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
  const headers = Object.entries(result.multiValueHeaders).flatMap(([name, values]) =>
    values.map((value) => [remapped(name), value] as const),
  );
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type'))
    headers.push(['Content-Type', 'application/json']);
  return {
    status: result.statusCode,
    headers: [...headers, ['x-amzn-RequestId', randomUUID()], ['x-amz-apigw-id', 'apigw-id=']],
    body,
  };
}

function remapped(name: string): string {
  return /^(connection|content-length|date|server)$/i.test(name) ? `x-amzn-Remapped-${name}` : name;
}

function addedHeaders({ sourceIp }: ApiRequest): [string, string][] {
  return [
    ['X-Amzn-Trace-Id', `Root=1-${randomUUID()}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', '443'],
    ['X-Forwarded-Proto', 'https'],
  ];
}

/** Decodes a query like a form: a plus becomes a space, and is lost. */
function decoded(query: string): [string, string][] {
  return query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decode(name), decode(value.join('='))];
  });
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function grouped(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const [name, value] of pairs) (groups[name] ??= []).push(value);
  return groups;
}

function lastOf(groups: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1)!]));
}

/** Path and query of a target. */
export function split(target: string): [path: string, query: string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}
