import { describe, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { read } from '../support/storage/objects.ts';
import { exchange, RawConnection } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf, signed } from '../support/clients/signer.ts';

/** The most expensive requests: they are answered, and do not block other requests. */

const service = serviceUnderTest({ alone: true });
const KiB = 1024;

/** A key of 1,024 bytes, of two bytes each but for the number in front. */
const hugeKey = (n: number): string => String(n).padStart(4, '0') + 'ü'.repeat(510);

async function putHugeKeys(bucket: string, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, n) => hugeKey(n));
  for (let at = 0; at < count; at += 20) {
    const some = keys
      .slice(at, at + 20)
      .map((key) => service.send({ method: 'PUT', path: pathOf(bucket, key), body: 'x' }));
    for (const { status } of await Promise.all(some)) expect(status).toBe(200);
  }
  return keys;
}

describe('keys of 1,024 bytes', () => {
  it('can be deleted a thousand at once, there or not, while others are served', async () => {
    const bucket = await service.bucket();
    const there = await putHugeKeys(bucket, 100);
    const keys = [...there, ...Array.from({ length: 900 }, (_, n) => hugeKey(n + 100))];
    const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
    const deletion = service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body });
    const others = await Promise.all(keys.slice(0, 20).map(() => service.sendUnsigned({ path: '/_stillage/health' })));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    const response = await deletion;
    expect(response.status).toBe(200);
    expect(response.text).not.toContain('<Error>');
    expect(textsOf(response.text, 'Key')).toEqual(keys);
    expect(textOf((await service.send({ path: `/${bucket}`, query: 'list-type=2' })).text, 'KeyCount')).toBe('0');
  });

  it('are listed, and rolled up at a delimiter that is as long, page after page', async () => {
    const bucket = await service.bucket();
    const keys = await putHugeKeys(bucket, 30);
    const list = async (query: string): Promise<string> => {
      const response = await service.send({ path: `/${bucket}`, query: `list-type=2&${query}` });
      expect(response.status, response.text).toBe(200);
      return response.text;
    };
    const tail = encodeURIComponent('ü'.repeat(510));
    const rolled = textsOf(await list(`delimiter=${tail}&max-keys=20`), 'Prefix').filter((one) => one !== '');
    expect(rolled).toEqual(keys.slice(0, 20));
    const token = textOf(await list(`delimiter=${tail}&max-keys=20`), 'NextContinuationToken')!;
    const rest = textsOf(await list(`delimiter=${tail}&max-keys=20&continuation-token=${token}`), 'Prefix');
    expect(rest.filter((one) => one !== '')).toEqual(keys.slice(20));
    // These keys contain neither a delimiter that no key can hold nor one longer than any key.
    for (const delimiter of ['ü'.repeat(512), 'x'.repeat(4000)]) {
      const text = await list(`delimiter=${encodeURIComponent(delimiter)}`);
      expect([textsOf(text, 'Key'), text.includes('<CommonPrefixes>')]).toEqual([keys, false]);
    }
  });
});

/** The bucket owner chooses the patterns, and any client the headers: together they could take long. */
describe('a policy of 20 KB, held against 7 KB of a header', () => {
  it.each([
    ['StringEqualsIgnoreCase', (n: number) => `b${n}`, 2400],
    ['StringLike', (n: number) => `b${n}`, 2400],
    ['StringLike', (n: number) => `*${'a'.repeat(2000)}b${n}*`, 9],
    ['StringLike', (n: number) => `*${'a?'.repeat(1000)}b${n}*`, 9],
  ] as const)('is judged again and again: %s', async (operator, pattern, count) => {
    const bucket = await service.bucket();
    const values = Array.from({ length: count }, (_, n) => pattern(n));
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${bucket}/*`,
    };
    const body = JSON.stringify({
      Statement: { ...statement, Condition: { [operator]: { 'aws:UserAgent': values } } },
    });
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body });
    expect(answer.status, answer.text).toBe(204);
    const headers = { 'user-agent': 'a'.repeat(7 * KiB) };
    for (let n = 0; n < 20; n += 1) {
      expectError(await service.sendUnsigned({ path: `/${bucket}/key`, headers }), 403, 'AccessDenied');
    }
  });
});

/** Content-Encoding is for readers of the object: a few bytes can claim to be gigabytes. */
describe('what is compressed', () => {
  const bomb = gzipSync(Buffer.alloc(20 * KiB * KiB));
  const headers = { 'content-encoding': 'gzip' };

  it('is stored and returned as it was sent', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/key`;
    expect((await service.send({ method: 'PUT', path, headers, body: bomb })).status).toBe(200);
    for (const encoding of ['gzip', 'identity', '']) {
      const response = await service.send({ path, headers: { 'accept-encoding': encoding } });
      expect(response.body.equals(bomb)).toBe(true);
      expect(response.header('content-encoding')).toBe('gzip');
    }
  });

  it('is no document, and no form', async () => {
    const bucket = await service.bucket();
    for (const [method, query, document] of [
      ['PUT', 'versioning', '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'],
      ['POST', 'delete', '<Delete><Object><Key>key</Key></Object></Delete>'],
    ] as const) {
      for (const body of [gzipSync(document), bomb]) {
        expectError(await service.send({ method, path: `/${bucket}`, query, headers, body }), 400, 'MalformedXML');
      }
    }
    expectError(
      await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', headers, body: gzipSync('{}') }),
      400,
      'MalformedPolicy',
    );
    const form = gzipSync(
      formBody([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])], { content: 'x' }),
    );
    const post = { method: 'POST', path: `/${bucket}`, headers: { ...headers, 'content-type': formType }, body: form };
    expectError(await service.sendUnsigned(post), 400, 'MalformedPOSTRequest');
  });

  it('is no transfer coding', async () => {
    const bucket = await service.bucket();
    const request = {
      ...{ method: 'PUT', path: `/${bucket}/key`, headers: { 'transfer-encoding': 'gzip, chunked' } },
      body: `${bomb.length.toString(16)}\r\n${bomb.toString('latin1')}\r\n0\r\n\r\n`,
    };
    expectError(await service.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' }), 400, 'InvalidRequest');
  });
});

describe.runIf(!isExternal)('hundreds of clients that start something and stall', () => {
  it('keep nobody else waiting', async () => {
    const bucket = await service.bucket();
    const upload = signed(
      service.host,
      { method: 'PUT', path: `/${bucket}/slow`, headers: { 'content-length': '1000' } },
      { key: service.alice, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const head = [`PUT ${upload.target} HTTP/1.1`, ...upload.headers.map((pair) => pair.join(': ')), '', 'a'].join(
      '\r\n',
    );
    const beginnings = ['', 'GE', `GET /${bucket} HTTP/1.1\r\nhost: `, head];
    const connections = await Promise.all(Array.from({ length: 400 }, () => RawConnection.open(service.url)));
    try {
      for (const [n, connection] of connections.entries()) connection.write(beginnings[n % beginnings.length]!);
      for (let n = 0; n < 5; n += 1) {
        const request = { method: 'PUT', path: `/${bucket}/key`, body: `content ${n}` };
        expect((await exchange(service.url, signed(service.host, request, { key: service.alice }))).status).toBe(200);
        expect(await read(service.client, bucket, 'key')).toBe(`content ${n}`);
      }
    } finally {
      for (const connection of connections) connection.close();
    }
  });
});
