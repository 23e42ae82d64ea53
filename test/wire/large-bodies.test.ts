import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { chunked, signed } from '../support/clients/signer.ts';
import { crc32 } from 'node:zlib';

/* Bodies whose digests are computed in other threads. */

const service = serviceUnderTest();
const size = 3 * 2 ** 20 + 12_345;
const body = randomBytes(size);
const md5 = createHash('md5').update(body).digest();

function crcOf(bytes: Uint8Array): string {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(crc32(bytes));
  return value.toString('base64');
}

describe('a large body', () => {
  it('is stored with its digests if all that the client said of it is true', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/large`;
    const headers = { 'content-md5': md5.toString('base64'), 'x-amz-checksum-crc32': crcOf(body) };
    const stored = await service.send({ method: 'PUT', path, headers, body });
    expect([stored.status, stored.header('etag')]).toEqual([200, `"${md5.toString('hex')}"`]);
    const read = await service.send({ path, headers: { 'x-amz-checksum-mode': 'ENABLED' } });
    expect(read.body.equals(body)).toBe(true);
    expect(read.header('x-amz-checksum-crc32')).toBe(crcOf(body));
  });

  it('has a CRC64NVME if the client sent no checksum, however it is sent', async () => {
    const bucket = await service.bucket();
    const checksums = await Promise.all(
      ['digest', 'unsigned', 'chunks'].map(async (kind) => {
        const path = `/${bucket}/${kind}`;
        const framed = kind === 'chunks';
        const request = {
          method: 'PUT',
          path,
          ...(framed && {
            headers: { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': String(size) },
          }),
          body: framed ? chunked([body.subarray(0, 100_000), body.subarray(100_000)]) : body,
        };
        const payloadHash = {
          digest: undefined,
          unsigned: 'UNSIGNED-PAYLOAD',
          chunks: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        };
        const hash = payloadHash[kind as keyof typeof payloadHash];
        const stored = await service.send(request, hash === undefined ? {} : { payloadHash: hash });
        expect([kind, stored.status, stored.header('etag')]).toEqual([kind, 200, `"${md5.toString('hex')}"`]);
        return stored.header('x-amz-checksum-crc64nvme');
      }),
    );
    expect(checksums[0]).toMatch(/^.{11}=$/);
    expect(new Set(checksums).size).toBe(1);
  });

  it('is refused, and not stored, if anything is not', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/large`;
    const other = Buffer.from(body);
    other[size - 1]! ^= 1;
    const put = { method: 'PUT', path, body: other };
    const digest = createHash('sha256').update(body).digest('hex');
    const refusals = [
      await service.send(put, { payloadHash: digest }),
      await service.send({ ...put, headers: { 'content-md5': md5.toString('base64') } }),
      await service.send({ ...put, headers: { 'x-amz-checksum-crc32': crcOf(body) } }),
    ];
    expect(refusals.map(({ status, text }) => [status, /<Code>(.*?)<\/Code>/.exec(text)?.[1]])).toEqual([
      [400, 'XAmzContentSHA256Mismatch'],
      [400, 'BadDigest'],
      [400, 'BadDigest'],
    ]);
    expect((await service.send({ path })).status).toBe(404);
  });

  it('that breaks off is not stored, and others go on', async () => {
    const bucket = await service.bucket();
    const broken = Array.from({ length: 24 }, async (_, at) => {
      const { headers, ...rest } = signed(
        service.host,
        { method: 'PUT', path: `/${bucket}/broken-${at}`, body },
        { key: service.alice },
      );
      const connection = await RawConnection.open(service.url);
      connection.write(requestBytes({ ...rest, headers }).subarray(0, -1000 * (at + 1)));
      connection.close();
    });
    await Promise.all(broken);
    const whole = Array.from({ length: 20 }, (_, at) =>
      service.send({ method: 'PUT', path: `/${bucket}/whole-${at}`, body }),
    );
    for (const { status, header } of await Promise.all(whole)) {
      expect([status, header('etag')]).toEqual([200, `"${md5.toString('hex')}"`]);
    }
    const { text } = await service.send({ path: `/${bucket}`, query: 'list-type=2' });
    expect([...text.matchAll(/<Key>(\w+)-/g)].map((match) => match[1])).toEqual(
      Array.from({ length: 20 }, () => 'whole'),
    );
  });
});
