import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { read } from '../support/storage/objects.ts';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Key } from '../support/clients/signer.ts';

/** RFC 9110 §10.1.1 */

const service = serviceUnderTest();

interface Upload {
  readonly bucket: string;
  readonly key?: Key;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** Sends the head of an upload that expects 100 Continue, and gives the connection. */
async function sendHead({ bucket, key = service.alice, body = 'content', headers }: Upload): Promise<RawConnection> {
  const request = signed(
    service.host,
    { method: 'PUT', path: `/${bucket}/key`, body, headers: { expect: '100-continue', ...headers } },
    { key },
  );
  const connection = await RawConnection.open(service.url);
  connection.write(requestBytes({ ...request, body: '' }));
  return connection;
}

describe('Expect: 100-continue', () => {
  it('is answered before the body, and the connection goes on', async () => {
    const bucket = await service.bucket();
    const connection = await sendHead({ bucket });
    expect(await connection.interim()).toBe(100);
    connection.write('content');
    expect((await connection.response()).status).toBe(200);
    expect(await read(service.client, bucket, 'key')).toBe('content');

    connection.write(requestBytes(signed(service.host, { path: `/${bucket}/key` }, { key: service.alice })));
    const next = await connection.response();
    expect([next.status, next.text, next.interim]).toEqual([200, 'content', []]);
    connection.close();
  });

  it('is answered where the body is empty, too', async () => {
    const bucket = await service.bucket();
    const connection = await sendHead({ bucket, body: '' });
    const response = await connection.response();
    expect([response.status, response.interim]).toEqual([200, [100]]);
    connection.write(requestBytes(signed(service.host, { path: `/${bucket}/key` }, { key: service.alice })));
    expect((await connection.response()).status).toBe(200);
    connection.close();
  });

  it('is answered with the refusal if the signature does not hold', async () => {
    const bucket = await service.bucket();
    const connection = await sendHead({ bucket, key: { ...service.alice, secretAccessKey: 'guessed' } });
    const response = await connection.response();
    expectError(response, 403, 'SignatureDoesNotMatch');
    expect(response.interim).toEqual([]);
    connection.close();
  });

  it.each([
    ['the bucket is not there', 404, 'NoSuchBucket', {}],
    ['a header is wrong', 400, 'InvalidDigest', { 'content-md5': 'nonsense' }],
    ['the upload is too large', 400, 'EntityTooLarge', { 'content-length': String(6 * 1024 ** 3) }],
    ['the storage class is unknown', 400, 'InvalidStorageClass', { 'x-amz-storage-class': 'nonsense' }],
  ])('is answered with the refusal if %s', async (_, status, code, headers) => {
    const bucket = status === 404 ? service.freeName() : await service.bucket();
    const connection = await sendHead({ bucket, headers });
    const response = await connection.response();
    expectError(response, status, code);
    expect(response.interim).toEqual([]);
    connection.close();
  });

  it('is answered with the refusal to strangers', async () => {
    const connection = await sendHead({ bucket: await service.bucket(), key: service.bob });
    const response = await connection.response();
    expectError(response, 403, 'AccessDenied');
    expect(response.interim).toEqual([]);
    connection.close();
  });

  it('need not be waited for', async () => {
    const bucket = await service.bucket();
    const connection = await sendHead({ bucket });
    connection.write('content');
    const response = await connection.response();
    expect([response.status, response.interim]).toEqual([200, [100]]);
    connection.close();
  });
});

describe('other expectations', () => {
  it.each(['200', '', 'something-else'])('are ignored: %j', async (expectation) => {
    const bucket = service.freeName();
    const request = signed(service.host, { method: 'PUT', path: `/${bucket}` }, { key: service.alice });
    const connection = await RawConnection.open(service.url);
    connection.write(requestBytes({ ...request, headers: [...request.headers, ['Expect', expectation]] }));
    const response = await connection.response();
    expect([response.status, response.interim]).toEqual([200, []]);
    connection.close();
  });
});

describe('bytes that follow a whole request and are none', () => {
  it('do not take the answer from it, and end the connection', async () => {
    const bucket = await service.bucket();
    const request = signed(
      service.host,
      { method: 'PUT', path: `/${bucket}/key`, body: 'content' },
      { key: service.alice },
    );
    const connection = await RawConnection.open(service.url);
    connection.write(Buffer.concat([requestBytes(request), Buffer.from('r')]));
    expect((await connection.response()).status).toBe(200);
    expect(await connection.closedWithin(10_000)).toBe(true);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });
});

describe('a body that follows a refused head', () => {
  it('is not taken for the next request', async () => {
    const bucket = await service.bucket();
    const smuggled = requestBytes(signed(service.host, { path: `/${bucket}` }, { key: service.alice })).toString();
    const connection = await sendHead({
      bucket,
      body: smuggled,
      key: { ...service.alice, secretAccessKey: 'guessed' },
    });
    expectError(await connection.response(), 403, 'SignatureDoesNotMatch');
    connection.write(smuggled);
    await expect(connection.response()).rejects.toThrow('The connection ended');
    connection.close();
  });

  it('is read to its end where it is on its way already', async () => {
    const bucket = await service.bucket();
    const body = 'x'.repeat(3 * 1024 * 1024);
    const request = signed(
      service.host,
      { method: 'PUT', path: `/${bucket}/key`, body },
      { key: { ...service.alice, secretAccessKey: 'guessed' } },
    );
    const connection = await RawConnection.open(service.url);
    connection.write(requestBytes(request));
    expectError(await connection.response(), 403, 'SignatureDoesNotMatch');
    connection.close();
  });
});
