import { describe, expect, it } from 'vitest';
import { expectError, textsOf } from '../support/clients/expect-error.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { put, read } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/** Clients of HTTP/1.0 get nothing that came with HTTP/1.1: RFC 9110 §10.1.1, RFC 9112 §6.1, §7.1 and §9.3. */

const service = serviceUnderTest();

/** The bytes of a signed request of HTTP/1.0. */
function former(request: Unsigned, more: readonly (readonly [string, string])[] = []): Buffer {
  const { headers, ...rest } = signed(service.host, request, { key: service.alice });
  const bytes = requestBytes({ ...rest, headers: [...headers, ...more] });
  return Buffer.from(bytes.toString('latin1').replace(' HTTP/1.1\r\n', ' HTTP/1.0\r\n'), 'latin1');
}

/** Sends requests of HTTP/1.0 on one connection, each after the response before it. */
async function responses(...requests: readonly Buffer[]): Promise<{ all: RawResponse[]; closed: boolean }> {
  const connection = await RawConnection.open(service.url);
  const all: RawResponse[] = [];
  for (const bytes of requests) {
    connection.write(bytes);
    all.push(await connection.response());
  }
  // Long before a connection that is kept would be closed for idleness.
  const closed = await connection.closedWithin(30_000);
  connection.close();
  return { all, closed };
}

describe('a client of HTTP/1.0', () => {
  it.each(['content', ''])('is not told to continue: %j', async (body) => {
    const bucket = await service.bucket();
    const request = former({ method: 'PUT', path: `/${bucket}/key`, body, headers: { expect: '100-continue' } });
    const { all } = await responses(request);
    expect([all[0]!.status, all[0]!.interim]).toEqual([200, []]);
    expect(await read(service.client, bucket, 'key')).toBe(body);
  });

  it.each([
    ['a listing', 200, (bucket: string) => former({ path: `/${bucket}` })],
    ['a setting', 200, (bucket: string) => former({ path: `/${bucket}`, query: 'acl' })],
    ['an error', 404, (bucket: string) => former({ path: `/${bucket}/none` })],
    ['an object', 200, (bucket: string) => former({ path: `/${bucket}/key` })],
  ])('gets %s with its length, not in chunks, and the connection closes', async (_, status, request) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { all, closed } = await responses(request(bucket));
    const [response] = all;
    expect(response!.status).toBe(status);
    expect(response!.header('transfer-encoding')).toBeUndefined();
    expect(response!.header('content-length')).toBe(String(response!.body.length));
    expect(response!.header('connection')).toBe('close');
    expect(closed).toBe(true);
  });

  it('gets a long listing whole', async () => {
    const bucket = await service.bucket();
    const keys = Array.from({ length: 60 }, (_, at) => `${'k'.repeat(900)}-${String(at).padStart(3, '0')}`);
    for (const key of keys) await put(service.client, bucket, key);
    const { all, closed } = await responses(former({ path: `/${bucket}` }));
    expect(all[0]!.header('transfer-encoding')).toBeUndefined();
    expect(textsOf(all[0]!.text, 'Key')).toEqual(keys);
    expect(closed).toBe(true);
  });

  it('keeps its connection if it asks for that', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const kept = [['Connection', 'keep-alive']] as const;
    const { all, closed } = await responses(
      former({ path: `/${bucket}/key` }, kept),
      former({ path: `/${bucket}` }, kept),
      former({ path: `/${bucket}/none` }, kept),
      former({ path: `/${bucket}/key` }),
    );
    expect(all.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
    expect(all.map((one) => one.header('connection'))).toEqual(['keep-alive', 'keep-alive', 'keep-alive', 'close']);
    expect(closed).toBe(true);
  });

  it('cannot send a body in chunks', async () => {
    const bucket = await service.bucket();
    const head = former({ method: 'PUT', path: `/${bucket}/key` }, [
      ['Transfer-Encoding', 'chunked'],
      ['Connection', 'keep-alive'],
    ]);
    // The body may have come before the answer is sent, or not.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const { all, closed } = await responses(Buffer.concat([head, Buffer.from('7\r\ncontent\r\n0\r\n\r\n')]));
      expectError(all[0]!, 400, 'InvalidRequest');
      expect(closed).toBe(true);
    }
    expect((await service.send({ path: `/${bucket}/key` })).status).toBe(404);
  });
});
