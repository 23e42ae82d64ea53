import { PutBucketCorsCommand, type CORSRule } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous } from '../support/clients/signer.ts';

/** The CORS headers of responses: https://fetch.spec.whatwg.org/#http-cors-protocol. GetBucketCors, PutBucketCors, Preflight. */

const service = serviceUnderTest();
const origin = 'https://app.example';
const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';

async function bucketWith(...rules: CORSRule[]): Promise<string> {
  const Bucket = await service.bucket();
  await service.client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: rules } }));
  return Bucket;
}

const everything: CORSRule = {
  AllowedOrigins: [origin],
  AllowedMethods: ['GET', 'PUT', 'POST', 'DELETE', 'HEAD'],
  AllowedHeaders: ['*'],
  ExposeHeaders: ['ETag', 'x-amz-request-id'],
  MaxAgeSeconds: 3000,
};

/** Every header that speaks of origins. */
function corsOf({ headers }: RawResponse): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const allowed = {
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, PUT, POST, DELETE, HEAD',
  'access-control-expose-headers': 'ETag, x-amz-request-id',
  'access-control-max-age': '3000',
  vary,
};

const ask = (path: string, headers: Record<string, string>, query?: string): Promise<RawResponse> =>
  service.sendUnsigned({ method: 'OPTIONS', path, headers, ...(query !== undefined && { query }) });

const wish = (method: string, ...headers: string[]): Record<string, string> => ({
  origin,
  'access-control-request-method': method,
  ...(headers.length > 0 && { 'access-control-request-headers': headers.join(', ') }),
});

describe('a Preflight', () => {
  it('is answered without credentials, for a bucket and for an object that need not be there', async () => {
    const bucket = await bucketWith(everything);
    for (const path of [`/${bucket}`, `/${bucket}/`, `/${bucket}/missing`]) {
      const response = await ask(path, wish('PUT', 'Content-Type', 'x-amz-meta-a'));
      expect([response.status, response.text, response.header('content-length')]).toEqual([200, '', '0']);
      expect(corsOf(response)).toEqual({ ...allowed, 'access-control-allow-headers': 'Content-Type, x-amz-meta-a' });
    }
  });

  it('is answered with the query of the request to come, signature and sub-resource included', async () => {
    const bucket = await bucketWith(everything);
    for (const query of [
      'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20200101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20200101T000000Z&X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Signature=00',
      'AWSAccessKeyId=AK&Expires=1&Signature=x',
      'uploads',
      'partNumber=1&uploadId=x',
      'tagging&acl',
    ]) {
      const response = await ask(`/${bucket}/key`, wish('PUT'), query);
      expect(response.status, query).toBe(200);
      expect(corsOf(response)).toEqual(allowed);
    }
  });

  it('is answered on the host name of a bucket', async () => {
    const bucket = await bucketWith(everything);
    const request = { method: 'OPTIONS', path: '/key', headers: wish('PUT') };
    const response = await exchange(service.url, anonymous(`${bucket}.${service.domain}`, request));
    expect(corsOf(response)).toEqual(allowed);
  });

  it.each<[string, Record<string, string>, string]>([
    ['no origin', { 'access-control-request-method': 'PUT' }, 'Origin request header needed'],
    ['no method', { origin }, 'Access-Control-Request-Method'],
    ['neither', {}, 'Origin request header needed'],
  ])('with %s is a bad request', async (_, headers, message) => {
    const bucket = await bucketWith(everything);
    for (const path of [`/${bucket}/key`, `/${bucket}`, '/']) {
      const response = await ask(path, headers);
      expectError(response, 400, 'BadRequest');
      expect(textOf(response.text, 'Message')).toContain(message);
      expect(corsOf(response)).toEqual({});
    }
  });

  it.each<[string, Record<string, string>]>([
    ['another origin', { ...wish('GET'), origin: 'https://other.example' }],
    ['another method', wish('DELETE')],
    ['a method that there is not', wish('PATCH')],
    ['another header', wish('GET', 'range', 'x-other')],
  ])('for %s is refused, and says nothing of what would be allowed', async (_, headers) => {
    const bucket = await bucketWith({ AllowedOrigins: [origin], AllowedMethods: ['GET'], AllowedHeaders: ['range'] });
    const response = await ask(`/${bucket}/key`, headers);
    expectError(response, 403, 'AccessForbidden');
    expect(corsOf(response)).toEqual({});
  });

  it('is refused where there are no rules, and where there is no bucket', async () => {
    const bucket = await service.bucket();
    expectError(await ask(`/${bucket}/key`, wish('GET')), 403, 'AccessForbidden');
    expectError(await ask('/', wish('GET')), 403, 'AccessForbidden');
    expectError(await ask(`/${service.freeName()}/key`, wish('GET')), 404, 'NoSuchBucket');
  });

  it('takes the first rule that fits, and says what that one says', async () => {
    const bucket = await bucketWith(
      { AllowedOrigins: ['https://*.example'], AllowedMethods: ['PUT'], AllowedHeaders: ['x-amz-*'], MaxAgeSeconds: 1 },
      { AllowedOrigins: ['*'], AllowedMethods: ['PUT', 'GET'], AllowedHeaders: ['*'], MaxAgeSeconds: 2 },
    );
    const first = await ask(`/${bucket}/key`, wish('PUT', 'X-Amz-Acl'));
    expect(corsOf(first)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'PUT',
      'access-control-max-age': '1',
    });
    const second = await ask(`/${bucket}/key`, wish('PUT', 'X-Amz-Acl', 'x-other'));
    expect(corsOf(second)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'PUT, GET',
      'access-control-allow-headers': 'X-Amz-Acl, x-other',
      'access-control-max-age': '2',
    });
  });

  it('never allows credentials', async () => {
    const bucket = await bucketWith(everything);
    const response = await ask(`/${bucket}/key`, { ...wish('PUT'), cookie: 'a=b' });
    expect(response.header('access-control-allow-credentials')).toBeUndefined();
  });
});

describe('an actual request', () => {
  it('is answered with what the rule says, whatever the answer', async () => {
    const bucket = await bucketWith(everything);
    await put(service.client, bucket, 'key', 'content');
    const key = `/${bucket}/key`;
    const headers = { origin };
    const responses: [number, RawResponse][] = [
      [200, await service.send({ path: key, headers })],
      [200, await service.send({ method: 'HEAD', path: key, headers })],
      [206, await service.send({ path: key, headers: { ...headers, range: 'bytes=0-1' } })],
      [304, await service.send({ path: key, headers: { ...headers, 'if-none-match': '*' } })],
      [412, await service.send({ path: key, headers: { ...headers, 'if-match': '"other"' } })],
      [416, await service.send({ path: key, headers: { ...headers, range: 'bytes=100-' } })],
      [404, await service.send({ path: `/${bucket}/missing`, headers })],
      [403, await service.sendUnsigned({ path: key, headers })],
      [403, await service.send({ path: key, headers }, { key: { ...service.alice, secretAccessKey: 'guessed' } })],
      [405, await service.send({ method: 'POST', path: key, headers })],
      [200, await service.sendPresigned({ path: key, headers })],
      [200, await service.send({ method: 'PUT', path: `/${bucket}/new`, headers, body: 'x' })],
      [200, await service.send({ path: `/${bucket}`, query: 'list-type=2', headers })],
      [204, await service.send({ method: 'DELETE', path: `/${bucket}/new`, headers })],
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
      expect(corsOf(response)).toEqual(allowed);
    }
  });

  it('is judged by the method that the browser names, if it names one', async () => {
    const bucket = await bucketWith({ AllowedOrigins: ['*'], AllowedMethods: ['PUT'] });
    await put(service.client, bucket, 'key', 'content');
    const path = `/${bucket}/key`;
    const named = await service.send({ path, headers: { origin, 'access-control-request-method': 'PUT' } });
    expect([named.text, named.header('access-control-allow-origin')]).toEqual(['content', '*']);
    const plain = await service.send({ path, headers: { origin } });
    expect([plain.text, plain.header('access-control-allow-origin')]).toEqual(['content', undefined]);
  });

  it('is answered all the same where no rule fits, and caches are told that this depends on the origin', async () => {
    const bucket = await bucketWith({ AllowedOrigins: [origin], AllowedMethods: ['PUT'] });
    await put(service.client, bucket, 'key', 'content');
    const response = await service.send({ path: `/${bucket}/key`, headers: { origin: 'https://other.example' } });
    expect([response.status, response.text]).toEqual([200, 'content']);
    expect(corsOf(response)).toEqual({ vary });
  });

  it('hears nothing of origins without one', async () => {
    const bucket = await bucketWith(everything);
    expect(corsOf(await service.send({ path: `/${bucket}` }))).toEqual({});
  });

  it('hears without rules, and without a bucket, that only the answer to the console would be another one', async () => {
    const silent = await service.bucket();
    for (const request of [
      { path: `/${silent}`, headers: { origin } },
      { path: `/${service.freeName()}`, headers: { origin } },
      { path: '/', headers: { origin } },
    ]) {
      expect(corsOf(await service.send(request))).toEqual({ vary });
    }
  });

  it('is judged by the rules of this moment', async () => {
    const bucket = await bucketWith(everything);
    const listing = { path: `/${bucket}`, headers: { origin } };
    expect(corsOf(await service.send(listing))).toEqual(allowed);
    await service.send({ method: 'DELETE', path: `/${bucket}`, query: 'cors' });
    expect(corsOf(await service.send(listing))).toEqual({ vary });
  });
});

describe('a configuration', () => {
  const document = (inner: string): string =>
    `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>${inner}</CORSRule></CORSConfiguration>`;
  const set = (bucket: string, body: string): Promise<RawResponse> =>
    service.send({ method: 'PUT', path: `/${bucket}`, query: 'cors', body });

  it.each(['&#13;&#10;', '&#10;', '&#13;', '\r\n', '\n'])(
    'that would inject a header is refused, and nothing changes: %j',
    async (lineEnd) => {
      const bucket = await service.bucket();
      const injected = `ETag${lineEnd}Set-Cookie: a=b`;
      for (const name of ['ExposeHeader', 'AllowedHeader', 'ID']) {
        expectError(await set(bucket, document(`<${name}>${injected}</${name}>`)), 400, 'InvalidRequest');
      }
      expectError(await service.send({ path: `/${bucket}`, query: 'cors' }), 404, 'NoSuchCORSConfiguration');
    },
  );

  it('of more than 64 KB is refused', async () => {
    const bucket = await service.bucket();
    const sized = (bytes: number): string => {
      const padding = bytes - document('<AllowedHeader></AllowedHeader>').length;
      return document(`<AllowedHeader>${'h'.repeat(padding)}</AllowedHeader>`);
    };
    expect((await set(bucket, sized(64 * 1024))).status).toBe(200);
    expectError(await set(bucket, sized(64 * 1024 + 1)), 400, 'MaxMessageLengthExceeded');
  });

  it('without a body, and one that is none, is refused', async () => {
    const bucket = await service.bucket();
    for (const body of ['', 'nonsense', '<CORSConfiguration/>']) {
      expectError(await set(bucket, body), 400, 'MalformedXML');
    }
  });
});
