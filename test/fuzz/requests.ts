import type { Random } from '../linearizability/random.ts';
import { routes } from '../../shared/protocol/operation-table.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { inputOf } from './inputs.ts';
import { documents } from './parsers/documents.ts';

/** Grammars of whole requests: the operations, the values in a query or a header field, and the bodies. */

const keys = ['key', 'a/b', 'upload', '%20', '%F0%9F%98%80', '..%2F', 'a'.repeat(900), '%00', '+', 'new'];
const parameters = [
  'prefix',
  'delimiter',
  'marker',
  'max-keys',
  'encoding-type',
  'continuation-token',
  'start-after',
  'fetch-owner',
];
const others = [
  'versionId',
  'uploadId',
  'partNumber',
  'part-number-marker',
  'max-parts',
  'key-marker',
  'version-id-marker',
];
const overriding = [
  'response-content-type',
  'response-cache-control',
  'x-id',
  'list-type',
  'acl',
  'tagging',
  'uploads',
];
const values = {
  query: ['', 'null', '1', '0', '-1', '10001', 'a%2F', '%2F', 'url', '2', 'true', '%FF', '%', 'AAAA', '9'.repeat(20)],
  fields: {
    range: ['bytes=0-1', 'bytes=-1', 'bytes=5-', 'bytes=9-1', 'bytes=0-0,2-3', 'bytes=', 'x'],
    'if-match': ['*', '"a"', 'a', 'W/"a"', '"'],
    'if-none-match': ['*', '"a", "b"', ''],
    'if-modified-since': ['Fri, 23 Jan 2026 10:11:12 GMT', 'x', '0'],
    'content-type': ['text/plain', 'multipart/form-data; boundary=b', 'multipart/form-data', ''],
    'content-md5': ['1B2M2Y8AsgTpgAmY7PhCfg==', 'x', ''],
    'content-encoding': ['aws-chunked', 'gzip', 'aws-chunked,gzip'],
    'cache-control': ['no-store', 'é'],
    expires: ['0', 'Fri, 23 Jan 2026 10:11:12 GMT'],
    origin: ['https://a.test', 'null', ''],
    'access-control-request-method': ['GET', 'PUT', ''],
    'x-amz-acl': ['private', 'public-read', 'x', 'bucket-owner-full-control'],
    'x-amz-grant-read': ['id="main@example.test"', 'id=', 'uri="x"'],
    'x-amz-copy-source': ['/bucket/key', 'bucket/a%2Fb?versionId=null', 'bucket', '/', '%', 'other/key'],
    'x-amz-copy-source-range': ['bytes=0-1', 'bytes=0-', 'x'],
    'x-amz-rename-source': ['/bucket/key', 'key', '/'],
    'x-amz-metadata-directive': ['COPY', 'REPLACE', 'x'],
    'x-amz-tagging': ['a=b', 'a', 'a=b&a=c', '%', '&'.repeat(20)],
    'x-amz-tagging-directive': ['COPY', 'REPLACE', 'x'],
    'x-amz-meta-a': ['b', 'é', '', 'x'.repeat(3000)],
    'x-amz-checksum-crc32': ['AAAAAA==', 'x', ''],
    'x-amz-checksum-sha256': ['x', ''],
    'x-amz-checksum-algorithm': ['CRC32', 'SHA256', 'x'],
    'x-amz-sdk-checksum-algorithm': ['CRC64NVME', 'x'],
    'x-amz-checksum-mode': ['ENABLED', 'x'],
    'x-amz-object-attributes': ['ETag,Checksum', 'ObjectParts', 'x'],
    'x-amz-server-side-encryption': ['AES256', 'aws:kms', 'x'],
    'x-amz-server-side-encryption-customer-algorithm': ['AES256', 'x'],
    'x-amz-server-side-encryption-customer-key': ['AAAA', 'A'.repeat(43) + '='],
    'x-amz-server-side-encryption-customer-key-md5': ['cLwkVDB8WSIRdzc8UGm9Yw==', 'x'],
    'x-amz-storage-class': ['STANDARD', 'GLACIER', 'x'],
    'x-amz-website-redirect-location': ['/a', 'https://a.test/', 'x'],
    'x-amz-decoded-content-length': ['0', '3', '-1', 'x', '9'.repeat(20)],
    'x-amz-expected-bucket-owner': ['main@example.test', 'x'],
    'x-amz-object-ownership': ['BucketOwnerEnforced', 'x'],
    'x-amz-bypass-governance-retention': ['true'],
    'x-amz-mp-object-size': ['1', 'x', '-1'],
  },
} as const;
const policy =
  '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*"}]}';
const jsonPieces = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"Effect":"Deny"',
  '"Principal":"*"',
  '"Action":"s3:*"',
  '"Resource":"*"',
  '"Condition":{}',
  '1',
  'null',
];

const roots = Object.values(documents);
const levels = ['service', 'bucket', 'object'] as const;
const known = routes.filter(({ on }) => (levels as readonly string[]).includes(on));
const fieldNames = Object.keys(values.fields) as (keyof typeof values.fields)[];

/** Returns a request for a random operation on a few buckets and keys, with random parameters, header fields and body. */
export function requestOf(random: Random): Unsigned {
  const { on, method, query, parameter, header } = random.oneOf(known);
  const bucket = random.next() < 0.9 ? 'bucket' : random.oneOf(['other', 'BUCKET', 'a', '%00', 'x'.repeat(64)]);
  const path = { service: '/', bucket: `/${bucket}`, object: `/${bucket}/${random.oneOf(keys)}` }[on as 'object'];
  const pairs = [query, parameter?.join('=')].filter((pair) => pair !== undefined);
  while (random.next() < 0.4) {
    const name = random.oneOf(random.oneOf([parameters, others, overriding]));
    pairs.push(random.next() < 0.1 ? name : `${name}=${random.oneOf(values.query)}`);
  }
  const headers: Record<string, string> = {};
  if (header !== undefined) headers[header] = fieldOf(random, header);
  while (random.next() < 0.5) {
    const name = random.oneOf(fieldNames);
    headers[name] = fieldOf(random, name);
  }
  const body = random.next() < 0.6 ? bodyOf(random) : undefined;
  const odd = random.next() < 0.05 ? random.oneOf(['PATCH', 'TRACE', 'get', 'PROPFIND']) : method;
  return { method: odd, path, query: pairs.join('&'), headers, ...(body !== undefined && { body }) };
}

function fieldOf(random: Random, name: string): string {
  const some: readonly string[] | undefined = (values.fields as Readonly<Record<string, readonly string[]>>)[name];
  const text = some === undefined ? 'x' : random.oneOf(some);
  if (random.next() < 0.8) return text;
  return inputOf(random, { pieces: [text, ',', ' ', ';', '"', '='] }, []).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '');
}

function bodyOf(random: Random): string {
  const dice = random.next();
  if (dice < 0.3) return '';
  if (dice < 0.5) return inputOf(random, { pieces: [policy, ...jsonPieces] }, [policy]);
  if (dice < 0.6) return '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nk\r\n--b--\r\n';
  return inputOf(random, random.oneOf(roots), []);
}

/** Returns the bytes of a request whose head or framing is usually malformed. */
export function bytesOf(random: Random, host: string): Buffer {
  const { method = 'GET', path, query = '', headers = {}, body = '' } = requestOf(random);
  const bytes = Buffer.from(body);
  const chunked = `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n0\r\n\r\n`;
  const [name, value] = framingOf(random, bytes.length);
  const lines = [
    `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
    ...(random.next() < 0.95 ? [`host: ${host}`] : []),
    ...Object.entries(headers).map(([field, text]) => `${field}: ${text}`),
    `${name}: ${value}`,
    ...(random.next() < 0.2 ? ['expect: 100-continue'] : []),
    ...(random.next() < 0.3 ? ['connection: close'] : []),
  ];
  for (let changes = random.below(4) - 1; changes > 0; changes -= 1) {
    const at = random.below(lines.length);
    lines[at] = inputOf(random, { pieces: [lines[at]!, ':', ' ', 'HTTP/1.1', 'HTTP/1.0', '\n', '\r'] }, [lines[at]!]);
  }
  const end = random.next() < 0.9 ? '\r\n\r\n' : random.oneOf(['\n\n', '\r\n', '\r\r\n\n', '']);
  const text = lines.join(random.next() < 0.95 ? '\r\n' : '\n') + end;
  const content = name === 'transfer-encoding' ? chunked : bytes.toString('latin1');
  return Buffer.from(text + content, 'latin1');
}

function framingOf(random: Random, length: number): readonly [name: string, value: string] {
  const dice = random.next();
  if (dice < 0.5) return ['content-length', String(length)];
  if (dice < 0.75) return ['transfer-encoding', 'chunked'];
  if (dice < 0.85) return ['transfer-encoding', random.oneOf(['Chunked', 'gzip, chunked', 'chunked, chunked', 'x'])];
  return ['content-length', random.oneOf(['-1', '+1', '0x1', '1e1', ' 1', '1, 1', '9'.repeat(25), '', 'a'])];
}
