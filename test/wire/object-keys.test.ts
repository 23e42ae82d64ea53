import { beforeAll, describe, expect, it } from 'vitest';
import { expectError, textsOf } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */

const service = serviceUnderTest();

describe('the path of a key', () => {
  it.each([
    ['/a%20b', 'a b'],
    ['/a+b', 'a+b'],
    ['/a%2Bb', 'a+b'],
    ['/a%2Fb', 'a/b'],
    ['/a%2fb', 'a/b'],
    ['/a%252Fb', 'a%2Fb'],
    ['//a', '/a'],
    ['/a//b', 'a//b'],
    ['/a/', 'a/'],
    ['/.', '.'],
    ['/..', '..'],
    ['/../b', '../b'],
    ['/a/../b', 'a/../b'],
    ['/%2e%2e/b', '../b'],
    ['/..%2f..%2fetc%2fpasswd', '../../etc/passwd'],
    ['//etc/passwd', '/etc/passwd'],
    ['/%5C..%5C', '\\..\\'],
    ['/con', 'con'],
    ['/%C3%A4', 'ä'],
    ['/%F0%90%8D%88', '𐍈'],
    ['/a;b=c', 'a;b=c'],
    ['/a%3Fb', 'a?b'],
    ['/a%23b', 'a#b'],
    ['/%0A%0D%09', '\n\r\t'],
    ['/%7F%C2%80', '\u007f\u0080'],
    ['/%EF%BF%BD', '\ufffd'],
  ])('%s is decoded once and is %j', async (path, key) => {
    const bucket = await service.bucket();
    const neighbour = await service.bucket();
    await put(service.client, neighbour, 'key', 'untouched');
    const written = await service.send({ method: 'PUT', path: `/${bucket}${path}`, body: 'content' });
    expect(written.status, written.text).toBe(200);
    expect(textsOf((await service.send({ path: `/${bucket}` })).text, 'Key')).toEqual([key]);
    expect((await service.send({ path: `/${bucket}${path}` })).text).toBe('content');
    expect(await read(service.client, neighbour, 'key')).toBe('untouched');
    expect(await versionsOf(service.client, neighbour)).toHaveLength(1);
  });

  it('keeps keys apart that a file system would not', async () => {
    const bucket = await service.bucket();
    const paths = ['a', 'A', 'a/', 'a//', './a', 'a/.', 'a/b', 'a//b', '%C3%A4', 'a%CC%88', 'a%20', '%20a'];
    for (const path of paths) await service.send({ method: 'PUT', path: `/${bucket}/${path}`, body: path });
    for (const path of paths) expect((await service.send({ path: `/${bucket}/${path}` })).text).toBe(path);
    expect(await versionsOf(service.client, bucket)).toHaveLength(paths.length);
  });
});

describe('a key', () => {
  let bucket: string;
  beforeAll(async () => {
    bucket = await service.lastingBucket();
  });

  it.each([
    ['ASCII', 'k'.repeat(1024), 'k'.repeat(1025)],
    ['two bytes each', '%C3%A4'.repeat(512), `${'%C3%A4'.repeat(512)}k`],
    ['four bytes each', '%F0%90%8D%88'.repeat(256), `${'%F0%90%8D%88'.repeat(256)}k`],
    ['slashes', '/'.repeat(1024), '/'.repeat(1025)],
  ])('has at most 1,024 bytes of UTF-8: %s', async (_, longest, tooLong) => {
    const path = `/${bucket}/${longest}`;
    expect((await service.send({ method: 'PUT', path, body: 'x' })).status).toBe(200);
    expect((await service.send({ path })).text).toBe('x');
    expect((await service.send({ method: 'DELETE', path })).status).toBe(204);
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const request = { method, path: `/${bucket}/${tooLong}`, ...(method === 'PUT' && { body: 'x' }) };
      expectError(await service.send(request), 400, 'InvalidObjectName');
    }
  });

  it.each([
    ['NUL', 'a%00b', 'InvalidRequest'],
    ['bytes that are no UTF-8', 'a%FFb', 'InvalidObjectName'],
    ['half a character', 'a%C3', 'InvalidObjectName'],
    ['an overlong form', '%C0%AF', 'InvalidObjectName'],
    ['a surrogate', '%ED%A0%80', 'InvalidObjectName'],
    ['a broken escape', 'a%zzb', 'InvalidURI'],
    ['half an escape', 'a%4', 'InvalidURI'],
    ['a lone percent sign', '100%', 'InvalidURI'],
  ])('has no %s', async (_, key, code) => {
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const request = { method, path: `/${bucket}/${key}`, ...(method === 'PUT' && { body: 'x' }) };
      expectError(await service.send(request), 400, code);
    }
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('is held to the same rules in a document', async () => {
    const keys = ['k'.repeat(1025)];
    const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('');
    const body = `<Delete>${objects}</Delete>`;
    const response = await service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body });
    expect(response.text).toContain('<Code>InvalidObjectName</Code>');
  });
});
