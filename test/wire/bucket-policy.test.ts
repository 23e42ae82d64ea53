import { beforeAll, expect, it } from 'vitest';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** PutBucketPolicy and GetBucketPolicy, byte by byte: documents that no client of good will sends. */

const service = serviceUnderTest();

let bucket: string;
beforeAll(async () => {
  bucket = await service.lastingBucket();
  expect((await put(policy())).status).toBe(204);
});

function put(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<RawResponse> {
  return service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body, headers });
}

function get(): Promise<RawResponse> {
  return service.send({ path: `/${bucket}`, query: 'policy' });
}

const statement = (): string =>
  `{"Effect":"Allow","Principal":{"AWS":"*"},"Action":["svc:ListBucket"],"Resource":"arn:svc:svc:::${bucket}"}`;
const policy = (): string => `{"Version":"2012-10-17","Statement":[${statement()}]}`;

const attacks: readonly (readonly [string, () => string | Uint8Array])[] = [
  ['nothing', () => ''],
  ['no JSON', () => '<Policy/>'],
  ['half a document', () => policy().slice(0, -1)],
  ['two documents', () => policy() + policy()],
  ['a list', () => `[${policy()}]`],
  ['null', () => 'null'],
  ['a comment', () => `${policy()} // fine`],
  ['a byte order mark', () => `\ufeff${policy()}`],
  ['UTF-16', () => Buffer.from(policy(), 'utf16le')],
  ['bytes that are not UTF-8', () => Buffer.from(policy().replace('svc:ListBucket', 'svc:\xff'), 'latin1')],
  ['a NUL', () => `${policy()}\0`],
  ['deep lists', () => '['.repeat(20_000)],
  ['deep objects', () => '{"Statement":'.repeat(1_500)],
  ['a field twice', () => `{"Statement":[],"Statement":[${statement()}]}`],
  ['a field of a statement twice', () => policy().replace('"Effect":"Allow"', '"Effect":"Deny","Effect":"Allow"')],
  ['a field twice, once escaped', () => policy().replace('{"Effect"', '{"\\u0045ffect":"Deny","Effect"')],
  ['__proto__', () => policy().replace('{"Effect"', '{"__proto__":{"Effect":"Allow"},"Effect"')],
  ['constructor', () => policy().replace('{"Version"', '{"constructor":{"prototype":{"Effect":"Allow"}},"Version"')],
  ['a prototype for a condition', () => policy().replace('{"Effect"', '{"Condition":{"__proto__":{"x":"y"}},"Effect"')],
  ['a number too large', () => policy().replace('"2012-10-17"', '1e999')],
];

it.each(attacks)('%s is refused, and the policy stays', async (_, document) => {
  expectError(await put(document()), 400, 'MalformedPolicy');
  expect((await get()).text).toBe(policy());
});

it('is answered as it was sent, as JSON', async () => {
  const answer = await get();
  expect(answer.status).toBe(200);
  expect(answer.header('content-type')).toBe('application/json');
  expect(answer.header('content-length')).toBe(String(policy().length));
  expect(answer.text).toBe(policy());
});

it('an answer to PUT has no body', async () => {
  const answer = await put(policy());
  expect(answer.status).toBe(204);
  expect(answer.text).toBe('');
});

it('more than any document is refused before it is read', async () => {
  expectError(await put('x'.repeat(1024 * 1024 + 1)), 400, 'MaxMessageLengthExceeded');
  expectError(await put('x'.repeat(20 * 1024 + 1)), 400, 'PolicyTooLarge');
});

it('must be what its digest says', async () => {
  expectError(await put(policy(), { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }), 400, 'BadDigest');
});

it('the service lives on', async () => {
  expect((await service.sendUnsigned({ path: '/_stillage/health' })).status).toBe(200);
});
