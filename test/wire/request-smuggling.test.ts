import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { exchange, RawConnection, requestBytes, type RawRequest } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/** RFC 9112 §11.2: messages that two servers on the way could interpret differently are refused. */

const service = serviceUnderTest();

let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect(await versionsOf(service.client, bucket)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

const sign = (unsigned: Unsigned): RawRequest => signed(service.host, unsigned, { key: service.alice });

/** A signed upload of `content`, as the text that is sent. */
function upload(headers: Unsigned['headers'] = {}): string {
  const body = 'content';
  return requestBytes(sign({ method: 'PUT', path: `/${bucket}/key`, headers, body })).toString('latin1');
}

/** Sends text, and then a request that must not be answered. The answer to the first must be 400, and the last. */
async function expectRefused(text: string): Promise<void> {
  const connection = await RawConnection.open(service.url);
  connection.write(Buffer.from(text, 'latin1'));
  connection.write(requestBytes(sign({ path: `/${bucket}` })));
  const response = await connection.response('PUT');
  expect(response.status, response.text).toBe(400);
  expect(response.text).toMatch(/^<\?xml .*\n<Error><Code>\w+<\/Code>/);
  expect(await connection.closedWithin(10_000)).toBe(true);
  connection.close();
}

const length = 'content-length: 7\r\n';

describe('the length of a body', () => {
  it.each([
    ['given twice', `${length}${length}`],
    ['given twice and differently', `${length}content-length: 8\r\n`],
    ['a list', 'content-length: 7, 7\r\n'],
    ['signed', 'content-length: +7\r\n'],
    ['negative', 'content-length: -7\r\n'],
    ['hexadecimal', 'content-length: 0x7\r\n'],
    ['a fraction', 'content-length: 7.0\r\n'],
    ['no number', 'content-length: seven\r\n'],
    ['empty', 'content-length: \r\n'],
    ['beyond all numbers', 'content-length: 99999999999999999999\r\n'],
    ['given beside chunks', `${length}transfer-encoding: chunked\r\n`],
    ['given behind chunks', `transfer-encoding: chunked\r\n${length}`],
    ['given beside an unknown coding', `${length}transfer-encoding: identity\r\n`],
  ])('is refused if it is %s', async (_, headers) => {
    expect(upload()).toContain(length);
    await expectRefused(upload().replace(length, headers));
  });

  it.each([
    ['unknown', 'transfer-encoding: gzip\r\n'],
    ['chunked and then another', 'transfer-encoding: chunked, identity\r\n'],
    ['misspelt', 'transfer-encoding: xchunked\r\n'],
    ['chunked twice', 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n'],
    ['hidden behind a tab', 'transfer-encoding:\x0bchunked\r\n'],
    ['hidden before its colon', 'transfer-encoding : chunked\r\n'],
    ['hidden in a second line', 'transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n'],
  ])('is refused if the transfer coding is %s', async (_, header) => {
    await expectRefused(
      upload()
        .replace(length, header)
        .replace(/content$/, '7\r\ncontent\r\n0\r\n\r\n'),
    );
  });

  it.each([
    ['a bad size', 'x\r\ncontent\r\n0\r\n\r\n'],
    ['a huge size', 'fffffffffffffffff\r\ncontent\r\n0\r\n\r\n'],
    ['a size with a plus', '+7\r\ncontent\r\n0\r\n\r\n'],
    ['data longer than its size', '3\r\ncontent\r\n0\r\n\r\n'],
    ['bare line feeds', '7\ncontent\n0\n\n'],
    ['an endless extension', `7;${'a'.repeat(100_000)}=b\r\ncontent\r\n0\r\n\r\n`],
    ['a length behind them', '7\r\ncontent\r\n0\r\ncontent-length: 3\r\n\r\n'],
  ])('is refused if chunks have %s', async (_, body) => {
    await expectRefused(
      upload()
        .replace(length, 'transfer-encoding: chunked\r\n')
        .replace(/content$/, body),
    );
  });

  it.each([
    ['Content-Length', length, 'cont'],
    ['chunks', 'transfer-encoding: chunked\r\n', '7\r\ncont'],
    ['a last chunk', 'transfer-encoding: chunked\r\n', '7\r\ncontent\r\n'],
  ])('is not what %s announced if the client goes away', async (_, header, body) => {
    const connection = await RawConnection.open(service.url);
    connection.write(
      upload()
        .replace(length, header)
        .replace(/content$/, body),
    );
    connection.end();
    const response = await connection.response('PUT').catch(() => undefined);
    expect(response?.status ?? 400).toBe(400);
    connection.close();
  });

  it('is not followed by headers that mean anything', async () => {
    const trailers = 'x-amz-acl: public-read\r\nx-amz-meta-a: b\r\nx-amz-tagging: a=b\r\nhost: other.example.com\r\n';
    const text = requestBytes(
      signed(
        service.host,
        { method: 'PUT', path: `/${bucket}/key`, headers: { 'transfer-encoding': 'chunked' } },
        { key: service.alice, payloadHash: 'UNSIGNED-PAYLOAD' },
      ),
    ).toString('latin1');
    const response = await exchangeText(`${text}7\r\ncontent\r\n0\r\n${trailers}\r\n`);
    expect(response.status, response.text).toBe(200);
    const { header } = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
    expect([header('x-amz-meta-a'), header('x-amz-tagging-count')]).toEqual([undefined, undefined]);
    expectError(await service.sendUnsigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  });

  it('is needed for an upload', async () => {
    const request = sign({ method: 'PUT', path: `/${bucket}/key` });
    expectError(await exchange(service.url, request), 411, 'MissingContentLength');
    const part = sign({ method: 'PUT', path: `/${bucket}/key`, query: 'partNumber=1&uploadId=x' });
    expectError(await exchange(service.url, part), 411, 'MissingContentLength');
  });

  it('is needed for a document', async () => {
    const request = sign({ method: 'PUT', path: `/${bucket}`, query: 'versioning' });
    expectError(await exchange(service.url, request), 411, 'MissingContentLength');
  });
});

describe('a header', () => {
  it.each([
    ['folded over two lines', 'x-amz-meta-a: one\r\n two\r\n'],
    ['without a name', ': value\r\n'],
    ['with a blank in its name', 'x-amz meta: value\r\n'],
    ['with a blank before its colon', 'x-amz-meta-a : value\r\n'],
    ['with NUL', 'x-amz-meta-a: a\0b\r\n'],
    ['with a bare carriage return', 'x-amz-meta-a: a\rb\r\n'],
    ['without a colon', 'nonsense\r\n'],
  ])('is refused if it is one %s', async (_, header) => {
    await expectRefused(upload().replace(length, length + header));
  });

  it.each(['host', 'authorization', 'x-amz-date', 'x-amz-content-sha256'])(
    'is refused if it is a second %s',
    async (name) => {
      const text = upload();
      const line = new RegExp(`^${name}: .*\r\n`, 'm').exec(text)![0];
      const response = await exchangeText(text.replace(length, length + line));
      expect(response.status, response.text).toBe(400);
      expect(response.text).toContain('<Code>InvalidRequest</Code>');
    },
  );

  it('must name the host', async () => {
    const response = await exchangeText(upload().replace(/^host: .*\r\n/m, ''));
    expectError(response, 400, 'InvalidRequest');
  });
});

describe('a target', () => {
  it.each(['http://other.example.com/bucket/key', '*', 'bucket/key', '//bucket'])(
    'must be a path: %s',
    async (target) => {
      const response = await exchangeText(upload().replace(/^PUT \S+/, `PUT ${target}`));
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    },
  );
});

/** Set by proxies or by the service's own gateway: from a client they mean nothing. */
describe('a header that only a proxy may set', () => {
  it.each([
    ['x-forwarded-host', 'other.example.com'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'host=other.example.com'],
    ['x-original-url', '/other/key'],
    ['x-rewrite-url', '/other/key'],
    ['x-http-method-override', 'DELETE'],
    ['x-amzn-remapped-authorization', 'AWS4-HMAC-SHA256 nonsense'],
    ['x-amzn-remapped-host', 'other.example.com'],
    ['x-stillage-edge', 'secret'],
    ['x-stillage-target', '/other/key'],
    ['x-stillage-host', 'other.example.com'],
    ['x-stillage-authorization', 'nonsense'],
    ['x-stillage-address', '192.0.2.1'],
  ])('is ignored: %s', async (name, value) => {
    await put(service.client, bucket, 'key', 'content');
    const request = sign({ path: `/${bucket}/key`, headers: { [name]: value } });
    const response = await exchange(service.url, request);
    expect([response.status, response.text]).toEqual([200, 'content']);
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  });

  it('does not take the place of credentials', async () => {
    const credentials = sign({ path: `/${bucket}` }).headers.find(([name]) => name === 'authorization')![1];
    for (const name of ['x-stillage-authorization', 'x-amzn-remapped-authorization', 'proxy-authorization']) {
      const response = await service.sendUnsigned({ path: `/${bucket}`, headers: { [name]: credentials } });
      expectError(response, 403, 'AccessDenied');
    }
  });
});

describe('requests on one connection', () => {
  it('are answered one after another, also if they are sent together', async () => {
    const connection = await RawConnection.open(service.url);
    connection.write(upload());
    connection.write(requestBytes(sign({ path: `/${bucket}/key` })));
    connection.write(requestBytes(sign({ method: 'DELETE', path: `/${bucket}/key` })));
    const statuses: number[] = [];
    for (const method of ['PUT', 'GET', 'DELETE']) statuses.push((await connection.response(method)).status);
    expect(statuses).toEqual([200, 200, 204]);
    connection.close();
  });

  // A distribution sends each on a connection of its own.
  it.runIf(!isCloud)('are not carried out after one whose response closes the connection', async () => {
    const refused = sign({ method: 'PUT', path: `/${bucketName()}/key`, body: Buffer.alloc(200_000) });
    const connection = await RawConnection.open(service.url);
    connection.write(Buffer.concat([requestBytes(refused), Buffer.from(upload(), 'latin1')]));
    const response = await connection.response('PUT');
    expectError(response, 404, 'NoSuchBucket');
    expect(response.header('connection')).toBe('close');
    expect(await connection.closedWithin(10_000)).toBe(true);
    connection.close();
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('stay apart when the body of one looks like another', async () => {
    const inner = requestBytes(sign({ method: 'PUT', path: `/${bucket}/smuggled`, body: 'x' })).toString();
    const connection = await RawConnection.open(service.url);
    connection.write(requestBytes(sign({ method: 'PUT', path: `/${bucket}/key`, body: inner })));
    expect((await connection.response('PUT')).status).toBe(200);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['key']);
    expect(await read(service.client, bucket, 'key')).toBe(inner);
    connection.close();
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  });
});

async function exchangeText(text: string) {
  const connection = await RawConnection.open(service.url);
  try {
    connection.write(Buffer.from(text, 'latin1'));
    return await connection.response('PUT');
  } finally {
    connection.close();
  }
}
