import { describe, expect, it } from 'vitest';
import { routes } from '../../shared/protocol/operation-table.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { RawConnection } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Which operation a request means. */

const service = serviceUnderTest();

/** Every sub-resource that the service knows of, built or not. */
const subresources = [...new Set(routes.flatMap(({ query }) => query ?? []))];

describe('a method that a resource has not', () => {
  it.each([
    ['PUT', '', '', 'GET, OPTIONS'],
    ['DELETE', '', '', 'GET, OPTIONS'],
    ['HEAD', '', '', 'GET, OPTIONS'],
    ['PATCH', '/bucket', '', 'PUT, HEAD, DELETE, GET, POST, OPTIONS'],
    ['PATCH', '/bucket/key', '', 'PUT, GET, HEAD, DELETE, OPTIONS'],
    ['POST', '/bucket/key', '', 'PUT, GET, HEAD, DELETE, OPTIONS'],
    ['LOCK', '/bucket/key', '', 'PUT, GET, HEAD, DELETE, OPTIONS'],
    ['PROPFIND', '/bucket', '', 'PUT, HEAD, DELETE, GET, POST, OPTIONS'],
    ['TRACE', '', '', 'GET, OPTIONS'],
    ['TRACE', '/bucket/key', '', 'PUT, GET, HEAD, DELETE, OPTIONS'],
    ['POST', '', '', 'GET, OPTIONS'],
    ['POST', '/bucket', 'location', 'GET'],
    ['DELETE', '/bucket', 'versioning', 'GET, PUT'],
    ['PUT', '/bucket', 'delete', 'POST'],
    ['GET', '/bucket', 'delete', 'POST'],
    ['PUT', '/bucket', 'uploads', 'GET'],
    ['GET', '/bucket/key', 'uploads', 'POST'],
    ['HEAD', '/bucket/key', 'tagging', 'GET, PUT, DELETE'],
    ['PUT', '/bucket/key', 'versioning', ''],
    ['DELETE', '/bucket/key', 'policy', ''],
    ['PUT', '/bucket/key', 'lifecycle', ''],
    ['DELETE', '/bucket', 'uploadId', ''],
  ])('is not allowed: %s %s?%s', async (method, path, query, allow) => {
    const bucket = await service.bucket();
    const request = { method, path: path.replace('bucket', bucket) || '/', query };
    const response = await service.send(request);
    expect(response.status, response.text).toBe(405);
    if (method !== 'HEAD') expectError(response, 405, 'MethodNotAllowed');
    expect(response.header('allow')!.split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
  });
});

/** RFC 9110 §9.1: their names are case-sensitive, and may be any token. */
describe.runIf(!isExternal)('a method that nothing has', () => {
  it.each(['CONNECT host:443', 'CONNECT /bucket/key', 'get /', 'EXPLODE /bucket/key', "M!#$%&'*+.^_`|~-0 /"])(
    'is answered, whatever is asked of: %s',
    async (start) => {
      const connection = await RawConnection.open(service.url);
      connection.write(`${start} HTTP/1.1\r\nhost: ${service.host}\r\n\r\n`);
      const response = await connection.response();
      expectError(response, 405, 'MethodNotAllowed');
      expect(textOf(response.text, 'Method')).toBe(start.split(' ')[0]);
      expect(response.header('allow')!.split(', ').toSorted()).toEqual([
        'DELETE',
        'GET',
        'HEAD',
        'OPTIONS',
        'POST',
        'PUT',
      ]);
      expect(await connection.closedWithin(10_000)).toBe(true);
      connection.close();
    },
  );

  it('opens no tunnel, and does not hurt those who ask for one and go', async () => {
    for (const end of ['', `GET / HTTP/1.1\r\nhost: ${service.host}\r\n\r\n`, 'x'.repeat(1024 * 1024)]) {
      const connection = await RawConnection.open(service.url);
      connection.write(`CONNECT ${service.host} HTTP/1.1\r\nhost: ${service.host}\r\n\r\n${end}`);
      connection.close();
    }
    expect((await service.sendUnsigned({ path: '/_stillage/health' })).status).toBe(200);
  });
});

describe('a sub-resource', () => {
  it('is recognised by its name, whatever its value', async () => {
    const bucket = await service.bucket();
    for (const query of ['versioning', 'versioning=', 'versioning=null', 'versioning=x&x-id=GetBucketVersioning']) {
      expect((await service.send({ path: `/${bucket}`, query })).text).toContain('<VersioningConfiguration');
    }
  });

  it('is recognised by its name only, in its case', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const query of ['Versioning', 'x-versioning', 'unknown=versioning', 'x-id=GetObject', 'a=b&c']) {
      expect((await service.send({ path: `/${bucket}/key`, query })).text).toBe('content');
    }
  });

  it('does not go with another one', async () => {
    const bucket = await service.bucket();
    for (const query of ['acl&tagging', 'versioning&location', 'uploads&versions', 'policy=&cors=']) {
      const response = await service.send({ path: `/${bucket}`, query });
      expectError(response, 400, 'InvalidArgument');
      expect(textOf(response.text, 'Message')).toMatch(/^Conflicting query string parameters: /);
    }
    expectError(await service.send({ path: `/${bucket}/key`, query: 'uploads&tagging' }), 400, 'InvalidArgument');
  });

  it('may be named twice', async () => {
    const bucket = await service.bucket();
    const { status } = await service.send({ path: `/${bucket}`, query: 'versioning=&versioning=' });
    expect(status).toBe(200);
  });

  it('is verified to be signed like any other parameter', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}`, query: 'versioning&x-id=Get' });
    expect(response.status).toBe(200);
  });

  it('knows more than a hundred operations', () => {
    expect(subresources.length).toBeGreaterThan(40);
  });

  /** A `PUT /bucket/key?retention` that is taken for PutObject destroys data. */
  it.each(subresources)('never falls through to the plain operation: %s', async (query) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'kept', 'content');
    for (const value of ['', '=', '=null']) {
      await service.send({ method: 'PUT', path: `/${bucket}/kept`, query: query + value, body: 'overwritten' });
      await service.send({ method: 'PUT', path: `/${bucket}/new`, query: query + value, body: 'stored' });
      await service.send({ method: 'DELETE', path: `/${bucket}/kept`, query: query + value });
      await service.send({ method: 'POST', path: `/${bucket}/new`, query: query + value, body: 'stored' });
      await service.send({ method: 'DELETE', path: `/${bucket}`, query: query + value });
    }
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['kept']);
    expect(await read(service.client, bucket, 'kept')).toBe('content');

    const free = service.freeName();
    await service.send({ method: 'PUT', path: `/${free}`, query });
    expect((await service.send({ method: 'HEAD', path: `/${free}` })).status).toBe(404);

    const got = await service.send({ path: `/${bucket}/kept`, query });
    expect(got.text).not.toBe('content');
    const listed = await service.send({ path: `/${bucket}`, query });
    expect(listed.text).not.toContain('<ListBucketResult');
  });
});

describe('versionId and partNumber', () => {
  it('do not make another operation of a PUT', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, query: 'uploadId=x', body: 'x' });
    expectError(response, 400, 'InvalidArgument');
    const empty = await service.send({
      method: 'PUT',
      path: `/${bucket}/key`,
      query: 'partNumber=1&uploadId=',
      body: 'x',
    });
    expectError(empty, 400, 'InvalidArgument');
    const copied = { 'x-amz-copy-source': `/${bucket}/key` };
    for (const query of ['partNumber=1', 'versionId=null', 'versionId=']) {
      for (const headers of [{}, copied]) {
        const whole = await service.send({ method: 'PUT', path: `/${bucket}/key`, query, headers });
        expectError(whole, 400, 'InvalidArgument');
      }
    }
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });
});

describe('the own paths of the service', () => {
  it('tell everybody that it is well', async () => {
    const response = await service.sendUnsigned({ path: '/_stillage/health' });
    expect([response.status, response.text]).toEqual([200, '{"status":"ok"}\n']);
    expect((await service.sendUnsigned({ method: 'HEAD', path: '/_stillage/health' })).status).toBe(200);
  });

  it.each([
    '/_stillage',
    '/_stillage/',
    '/_stillage/metrics',
    '/_stillage/debug',
    '/_stillage/health/more',
    '/_public',
  ])('are no others: %s', async (path) => {
    expectError(await service.sendUnsigned({ path }), 400, 'InvalidBucketName');
  });

  it('take no other method', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      expectError(await service.send({ method, path: '/_stillage/health' }), 405, 'MethodNotAllowed');
    }
  });
});
