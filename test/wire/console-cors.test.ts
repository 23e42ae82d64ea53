import { PutBucketCorsCommand, PutBucketPolicyCommand, PutBucketWebsiteCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { consoleOrigin as origin } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous } from '../support/clients/signer.ts';

/** The console may call every operation from its origin, whatever the rules of buckets. */

const service = serviceUnderTest();
const other = 'https://app.example';
const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';

/** Every header that speaks of origins. */
function corsOf({ headers }: RawResponse): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const actual = { 'access-control-allow-origin': origin, 'access-control-expose-headers': '*', vary };
const preflight = {
  ...actual,
  'access-control-allow-methods': 'GET, HEAD, PUT, POST, DELETE',
  'access-control-allow-headers': '*, Authorization',
  'access-control-max-age': '7200',
};

const wish = (method: string, from = origin): Record<string, string> => ({
  origin: from,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,x-amz-content-sha256,x-amz-date,x-amz-meta-a',
});

/** A request as it is, to any host. */
const sendTo = (host: string, method: string, target: string, headers: Record<string, string>): Promise<RawResponse> =>
  exchange(service.url, { method, target, headers: Object.entries({ host, ...headers }) });

/** Creates a bucket with other rules for the console's origin, and for all others. */
async function bucketWithRules(): Promise<string> {
  const Bucket = await service.bucket();
  const CORSRules = [
    { AllowedOrigins: [origin], AllowedMethods: ['GET'], ExposeHeaders: ['x-of-the-rule'], MaxAgeSeconds: 1 },
    { AllowedOrigins: ['*'], AllowedMethods: ['GET'], MaxAgeSeconds: 2 },
  ];
  await service.client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
  return Bucket;
}

describe('a preflight of the console', () => {
  it('is allowed for whatever is addressed, be it there or not, and whatever rules a bucket has', async () => {
    const [silent, ruled] = [await service.bucket(), await bucketWithRules()];
    const targets = [
      '/',
      '/?account',
      `/${silent}`,
      `/${silent}/?uploads&versions`,
      `/${silent}/key`,
      `/${ruled}/key`,
      `/${ruled}/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00`,
      `/${service.freeName()}/key`,
      '/No_Bucket/key',
      `/${silent}/%zz`,
      '/_stillage/health',
      '/_public/token',
    ];
    for (const target of targets) {
      const response = await sendTo(service.host, 'OPTIONS', target, wish('PUT'));
      expect([target, response.status, response.text]).toEqual([target, 200, '']);
      expect(corsOf(response)).toEqual(preflight);
    }
  });

  it('is allowed on the host names of buckets', async () => {
    const bucket = await service.bucket();
    const response = await sendTo(`${bucket}.${service.domain}`, 'OPTIONS', '/key', wish('DELETE'));
    expect([response.status, corsOf(response)]).toEqual([200, preflight]);
  });

  it('needs a method, as any does', async () => {
    const response = await sendTo(service.host, 'OPTIONS', '/', { origin });
    expect([response.status, corsOf(response)]).toEqual([400, actual]);
  });
});

describe('what the console asks for', () => {
  it('is answered readably, whatever the answer', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const key = `/${bucket}/key`;
    const headers = { origin };
    const responses: [number, RawResponse][] = [
      [200, await service.send({ path: '/', headers })],
      [200, await service.send({ path: `/${bucket}`, query: 'list-type=2', headers })],
      [200, await service.send({ method: 'HEAD', path: `/${bucket}`, headers })],
      [200, await service.send({ path: key, headers })],
      [200, await service.send({ method: 'HEAD', path: key, headers })],
      [206, await service.send({ path: key, headers: { ...headers, range: 'bytes=0-1' } })],
      [304, await service.send({ path: key, headers: { ...headers, 'if-none-match': '*' } })],
      [412, await service.send({ path: key, headers: { ...headers, 'if-match': '"other"' } })],
      [416, await service.send({ path: key, headers: { ...headers, range: 'bytes=100-' } })],
      [404, await service.send({ path: `/${bucket}/missing`, headers })],
      [404, await service.send({ path: `/${service.freeName()}`, headers })],
      [404, await service.send({ path: `/${bucket}`, query: 'cors', headers })],
      [403, await service.sendUnsigned({ path: key, headers })],
      [403, await service.send({ path: key, headers }, { key: { ...service.alice, secretAccessKey: 'guessed' } })],
      [405, await service.send({ method: 'POST', path: key, headers })],
      [501, await service.send({ path: key, query: 'torrent', headers })],
      [400, await service.send({ path: `/${bucket}`, query: 'acl&policy', headers })],
      [200, await service.sendPresigned({ path: key, headers })],
      [200, await service.send({ method: 'PUT', path: `/${bucket}/new`, headers, body: 'x' })],
      [400, await service.send({ method: 'PUT', path: `/${bucket}`, query: 'cors', headers, body: 'nonsense' })],
      [204, await service.send({ method: 'DELETE', path: `/${bucket}/new`, headers })],
      [200, await service.sendUnsigned({ path: '/_stillage/health', headers })],
      [404, await service.sendUnsigned({ path: '/_public/none', headers })],
      [
        204,
        await service.sendUnsigned({
          method: 'POST',
          path: `/${bucket}`,
          headers: { ...headers, 'content-type': formType },
          body: formBody([['key', 'form'], ...signedV4(service.alice, [{ bucket }, { key: 'form' }])], {
            content: 'x',
          }),
        }),
      ],
    ];
    for (const [status, response] of responses) {
      expect(response.status, response.text).toBe(status);
      expect(corsOf(response)).toEqual(actual);
    }
  });

  it('is answered readably before it was authenticated', async () => {
    const authorization = 'AWS4-HMAC-SHA256 nonsense';
    for (const [target, headers, status] of [
      ['/bucket/%zz', {}, 400],
      ['/bucket/%ff', {}, 400],
      [`/bucket/${'k'.repeat(1100)}`, {}, 400],
      ['/', { authorization }, 400],
      ['/', { authorization: 'Bearer x' }, 400],
      ['/', { 'x-padding': 'x'.repeat(9000) }, 400],
    ] as const) {
      const response = await sendTo(service.host, 'GET', target, { origin, ...headers });
      expect([target.slice(0, 20), response.status]).toEqual([target.slice(0, 20), status]);
      expect(corsOf(response)).toEqual(actual);
    }
  });

  it('is answered by the same headers where rules name its origin', async () => {
    const bucket = await bucketWithRules();
    expect(corsOf(await service.send({ path: `/${bucket}`, headers: { origin } }))).toEqual(actual);
  });

  it('is answered readably on the host names of websites', async () => {
    const bucket = await service.bucket();
    const IndexDocument = { Suffix: 'index.html' };
    const open = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` }],
    };
    await service.client.send(new PutBucketWebsiteCommand({ Bucket: bucket, WebsiteConfiguration: { IndexDocument } }));
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify(open) }));
    await put(service.client, bucket, 'index.html', 'page');
    const host = `${bucket}.${service.websiteDomain}`;
    for (const [target, status] of [
      ['/', 200],
      ['/missing', 403],
    ] as const) {
      const response = await sendTo(host, 'GET', target, { origin });
      expect([response.status, corsOf(response)]).toEqual([status, actual]);
      expect(corsOf(await sendTo(host, 'GET', target, { origin: other }))).toEqual({ vary });
    }
  });

  it('may not use credentials that a browser has', async () => {
    const response = await sendTo(service.host, 'OPTIONS', '/', { ...wish('GET'), cookie: 'a=b' });
    expect(response.header('access-control-allow-credentials')).toBeUndefined();
  });
});

describe('pages of any other origin', () => {
  const strangers = [
    other,
    'null',
    '*',
    'http://console.example.test',
    'https://console.example.test:8443',
    'https://console.example.test/',
    'https://CONSOLE.example.test',
    'https://console.example.test.evil.example',
    'https://evil.console.example.test',
    `${origin}, ${other}`,
  ];

  it('get what the rules of the bucket say, and nothing where there are none', async () => {
    const [silent, ruled] = [await service.bucket(), await bucketWithRules()];
    for (const from of strangers) {
      const headers = { origin: from };
      for (const path of [`/${silent}`, '/', '/_stillage/health']) {
        expect(corsOf(await service.send({ path, headers })), `${from} ${path}`).toEqual({ vary });
      }
      expect(corsOf(await service.send({ path: `/${ruled}`, headers }))).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-max-age': '2',
      });
      const refused = await sendTo(service.host, 'OPTIONS', `/${silent}/key`, wish('GET', from));
      expect([refused.status, corsOf(refused)]).toEqual([403, {}]);
      expect((await sendTo(service.host, 'OPTIONS', '/', wish('GET', from))).status).toBe(403);
    }
  });

  it('get nothing if they send an origin beside that of the console', async () => {
    const request = anonymous(service.host, { path: '/' });
    for (const both of [
      [origin, other],
      [other, origin],
    ]) {
      const headers = [...request.headers, ...both.map((one) => ['origin', one] as const)];
      expect(corsOf(await exchange(service.url, { ...request, headers }))).toEqual({ vary });
    }
  });

  it('leave answers without an origin as they were', async () => {
    const bucket = await service.bucket();
    expect(corsOf(await service.send({ path: `/${bucket}` }))).toEqual({});
  });
});
