import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeOperations, functionsOf, otherwise } from '../../../../../infra/bundles/operation-descriptions.ts';
import { maximumEdgeFunctionBytes } from '../../../../../infra/bundles/edge-function-code.ts';
import { routerCode } from '../../../../../infra/bundles/router-code.ts';
import { S3Error } from '../../../../../shared/errors/s3-error.ts';
import { resolveTarget } from '../../../../../shared/http/address.ts';
import { Fields } from '../../../../../shared/http/message.ts';
import { byteLane, routes, type OperationName, type Route } from '../../../../../shared/protocol/operation-table.ts';
import { findRoute } from '../../../../../shared/protocol/routes.ts';
import { edgeRuntime, type EdgeRequest, type RoutedRequest } from '../../../../support/cloud/edge-runtime.ts';
import { runs } from '../../../../support/runs/runs.ts';

const names = { domain: 's3.example.com', websiteDomain: 'website.s3.example.com' };
const functions = functionsOf(await describeOperations());
const code = await routerCode({ ...names, functions, otherwise, hasByteLane: true });
const route = edgeRuntime(code);
const servedBy = new Map(
  functions.flatMap(({ name, serves }) => serves.map((operation) => [operation, name] as const)),
);

const request = (line: string, headers: Record<string, string> = {}, host = names.domain): EdgeRequest => {
  const [method, target] = line.split(' ') as [string, string];
  return { method, target, headers: Object.entries({ host, ...headers }), address: '198.51.100.9' };
};

/** The operation of a request as every function finds it, or undefined where it is refused instead. */
function found({ method, target, headers }: EdgeRequest): OperationName | undefined {
  const fields = new Fields(headers);
  try {
    const { address, query } = resolveTarget(target, fields.get('host'), names);
    return findRoute(address, method, query, fields);
  } catch (error) {
    if (error instanceof S3Error) return undefined;
    throw error;
  }
}

/** Returns the lane of an operation according to its table. Every request to a website takes the lane of its pages. */
function lane(name: string, { headers }: EdgeRequest): string {
  const host = headers.find(([header]) => header === 'host')![1];
  if (isWebsite(host)) return 'byte';
  const wanted = byteLane[name as OperationName];
  const present = new Set(headers.map(([header]) => header));
  return wanted && (wanted.length === 0 || wanted.some((header) => present.has(header))) ? 'byte' : 'control';
}

function isWebsite(host: string): boolean {
  return host === `b.${names.websiteDomain}`;
}

const all: readonly Route[] = routes;
const words = [
  ...new Set(all.flatMap(({ query }) => query ?? [])),
  ...['versionId', 'partNumber', 'prefix', 'x-id', 'list-type=2', 'list-type=1', 'list-type', 'list%2Dtype=%32'],
  ...[
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    '%61cl',
    'a+cl',
    'ACL',
    '=acl',
    'acl=acl',
    '%zz',
    '%ff',
    '',
  ],
];
const methods = [...new Set(all.map(({ method }) => method)), 'PATCH', 'put', 'constructor'];
const headerNames = [...new Set([...all.flatMap(({ header }) => header ?? []), ...Object.values(byteLane).flat()])];

const paths = fc.oneof(
  fc.constantFrom(
    ...['/', '/b', '/b/', '/b/k', '//', '//k', '/b//', '/b/k/', '/b/..', '/b/../c', '/%62/%6b', '/b/%2F'],
  ),
  fc.constantFrom(
    '/_stillage',
    '/_stillage/',
    '/_stillage/health',
    '/_stillage/health/',
    '/_stillage/other',
    '/_stillagex',
  ),
  fc.constantFrom('/_public', '/_public/', '/_public/token', '/_public/token/more', '/_publicx', '/b/_public/x'),
  fc.webUrl({ withQueryParameters: false }).map((url) => new URL(url).pathname),
  fc.string({ unit: fc.constantFrom(...'ab/%2F0._~+=&é'), maxLength: 12 }).map((text) => `/${encodeURI(text)}`),
);
const queries = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, fc.webQueryParameters()), { maxLength: 3 })
  .map((parts) => parts.join('&'));
const hosts = fc.constantFrom(
  ...[names.domain, `b.${names.domain}`, `a.b.${names.domain}`, `B.${names.domain}:443`, `b.${names.domain}.`],
  ...[
    names.websiteDomain,
    `b.${names.websiteDomain}`,
    `.${names.domain}`,
    `x${names.domain}`,
    `.${names.websiteDomain}`,
  ],
  ...['d111111abcdef8.cloudfront.net', '127.0.0.1:9000', '[::1]:9000', ''],
);
const signedFor = (api: string): string =>
  `AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/${api}/aws4_request, SignedHeaders=host`;
const requests = fc
  .record({
    method: fc.constantFrom(...methods),
    path: paths,
    query: queries,
    host: hosts,
    headers: fc.subarray(headerNames),
    api: fc.constantFrom(undefined, 'iam', 'sts', 's3'),
    isForm: fc.boolean(),
  })
  .map(({ method, path, query, host, headers, api, isForm }): EdgeRequest => ({
    method,
    target: query === '' ? path : `${path}?${query}`,
    headers: [
      ['host', host],
      ...(api === undefined ? [] : [['authorization', signedFor(api)] as const]),
      ...(isForm ? [['content-type', 'application/x-www-form-urlencoded; charset=utf-8'] as const] : []),
      ...headers.map((name) => [name, 'value'] as const),
    ],
    address: '198.51.100.9',
  }));

describe('the router', () => {
  it('fits into a CloudFront Function', () => {
    console.info(`the router has ${Buffer.byteLength(code)} of ${maximumEdgeFunctionBytes} bytes`);
    expect(Buffer.byteLength(code)).toBeLessThan(10_240);
  });

  it('says the same as the route table about every request, and chooses the lane that leads there', () => {
    fc.assert(
      fc.property(requests, (one) => {
        const operation = found(one);
        const expected = operation === undefined ? undefined : (servedBy.get(operation) ?? otherwise);
        const routed = route(one);
        const name = routed.uri.slice(1);
        if (expected === undefined) {
          // Any function refuses such a request alike.
          expect(functions.map((one) => one.name)).toContain(name);
        } else {
          expect(name).toBe(expected);
        }
        expect(routed.origin).toBe(lane(name, one));
        expect(routed.headers['x-stillage-target']).toBe(one.target);
      }),
      { numRuns: runs(20_000) },
    );
  });

  it.each([
    ['a signature for iam', 'Iam', { authorization: signedFor('iam') }],
    ['a signature for sts', 'Sts', { authorization: signedFor('sts') }],
    ['a signature for cloudtrail', 'LookupEvents', { authorization: signedFor('cloudtrail') }],
    ['a form that nobody signed', 'Sts', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('sends POST of / with %s to the function %s', (_, name, headers) => {
    expect(route(request('POST /', headers)).uri).toBe(`/${name}`);
  });

  it.each(
    all.map((row) => [`${row.method} ${row.on} ${row.query ?? row.path ?? ''} ${row.header ?? ''}`, row] as const),
  )('knows the row %s', (_, { on, method, query = '', path, parameter, header, api, operation }) => {
    const places = {
      service: '/',
      bucket: '/b',
      object: '/b/k',
      website: '/p',
      internal: path?.replace('*', 'token') ?? '',
    };
    const target = `${places[on]}?${query}&${parameter?.join('=') ?? ''}`;
    const host = on === 'website' ? `b.${names.websiteDomain}` : names.domain;
    const headers = {
      ...(header !== undefined && { [header]: 'x' }),
      ...(api !== undefined && {
        authorization: `AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/${api}/aws4_request, `,
      }),
    };
    const one = request(`${method} ${api === undefined ? target : '/'}`, headers, host);
    expect(route(one).uri).toBe(`/${servedBy.get(operation) ?? otherwise}`);
  });

  it.each([
    ['two sub-resources', 'PUT /b/k?acl&tagging'],
    ['a method that a sub-resource has not', 'DELETE /b/k?acl'],
    ['a known sub-resource without a function', 'GET /b/k?torrent'],
    ['a query that cannot be decoded', 'GET /b?prefix=%zz'],
    ['a reserved path', 'PUT /_stillage/health'],
  ])('sends %s to where it is refused, and never takes it for something else', (_, line) => {
    expect(route(request(line)).uri).toBe(`/${otherwise}`);
  });

  it('sends a copy that moves bytes by the byte lane, and no other', () => {
    const copy = (headers: Record<string, string>): string | undefined =>
      route(request('PUT /b/k', { 'x-amz-copy-source': '/b/j', ...headers })).origin;
    expect(copy({})).toBe('control');
    expect(copy({ 'x-amz-metadata-directive': 'REPLACE' })).toBe('control');
    expect(copy({ 'x-amz-checksum-algorithm': 'SHA256' })).toBe('byte');
    expect(copy({ 'x-amz-copy-source-server-side-encryption-customer-algorithm': 'AES256' })).toBe('byte');
  });

  it('sends all that a website is asked for by the byte lane, whatever the method', () => {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', 'PATCH']) {
      expect(route(request(`${method} /p`, {}, `b.${names.websiteDomain}`)).origin).toBe('byte');
    }
  });

  it('has only the control lane where there is no other', async () => {
    const alone = edgeRuntime(await routerCode({ ...names, functions, otherwise, hasByteLane: false }));
    expect(alone(request('PUT /b/k'))).toMatchObject({ origin: 'control', uri: '/PutObject' });
    expect(alone(request('GET /p', {}, `b.${names.websiteDomain}`))).toMatchObject({ origin: 'control' });
  });
});

describe('what the router keeps', () => {
  const signed = {
    authorization: 'AWS4-HMAC-SHA256 Credential=…',
    'content-length': '11',
    'x-amz-date': '20260102T030405Z',
    'x-amz-meta-a': 'b',
  };
  const routed = (headers: Record<string, string> = {}): RoutedRequest =>
    route(request('PUT /b//a%2Fb/../ü+%20?acl&x=a+b|c', { ...signed, ...headers }, 'b.s3.example.com:443'));

  it('is what was signed, as it was sent', () => {
    const { uri, querystring, headers } = routed();
    expect({ uri, querystring }).toEqual({ uri: '/PutObjectAcl', querystring: {} });
    expect(headers).toEqual({
      host: 'b.s3.example.com:443',
      'content-length': '11',
      'x-amz-date': '20260102T030405Z',
      'x-amz-meta-a': 'b',
      'x-stillage-target': '/b//a%2Fb/../ü+%20?acl&x=a+b|c',
      'x-stillage-host': 'b.s3.example.com:443',
      'x-stillage-authorization': 'AWS4-HMAC-SHA256 Credential=…',
      'x-stillage-content-length': '11',
      'x-stillage-address': '198.51.100.9',
    });
  });

  it('is nothing that a client sets', () => {
    const forged = Object.fromEntries(
      ['edge', 'target', 'host', 'authorization', 'content-length', 'address'].map((name) => [
        `x-stillage-${name}`,
        'forged',
      ]),
    );
    expect(routed(forged).headers).toEqual(routed().headers);
    const bare = route({
      method: 'GET',
      target: '/',
      headers: Object.entries({ host: 'h', ...forged }),
      address: '::1',
    });
    expect(bare.headers).toEqual({
      host: 'h',
      'x-stillage-target': '/',
      'x-stillage-host': 'h',
      'x-stillage-address': '::1',
    });
  });
});

it('a router that is too long is not compiled', async () => {
  const tooLong = 'x'.repeat(11_000);
  await expect(routerCode({ ...names, domain: tooLong, functions, otherwise, hasByteLane: true })).rejects.toThrow(
    'fewer',
  );
});
