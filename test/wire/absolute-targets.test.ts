import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { exchange, type RawRequest, type RawResponse } from '../support/clients/raw-client.ts';
import { put } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { presigned, signed, type Unsigned } from '../support/clients/signer.ts';

/** Clients behind an HTTP proxy send the whole URL as their target: RFC 9112 §3.2.2. */

const service = serviceUnderTest();

/** Sends a request as signed, but for its target. */
async function sent(request: Unsigned, target: (path: string) => string): Promise<RawResponse> {
  const made: RawRequest = signed(service.host, request, { key: service.alice });
  return exchange(service.url, { ...made, target: target(made.target) });
}

describe('a target in absolute form', () => {
  it.each(['http://', 'https://', 'HTTP://'])('of the host of the request means its path: %s', async (scheme) => {
    const bucket = await service.bucket();
    const whole = (path: string): string => `${scheme}${service.host}${path}`;
    expect((await sent({ method: 'PUT', path: `/${bucket}/a%20b%2Bc//../d`, body: 'content' }, whole)).status).toBe(
      200,
    );
    const { status, text } = await sent({ path: `/${bucket}/a%20b%2Bc//../d` }, whole);
    expect([status, text]).toEqual([200, 'content']);
    expect((await sent({ path: `/${bucket}`, query: 'list-type=2&prefix=a%20b' }, whole)).text).toContain(
      '<KeyCount>1<',
    );
    expect((await sent({ path: '/' }, whole)).text).toContain(bucket);
  });

  it('may leave out the path of the service', async () => {
    const { status, text } = await sent({ path: '/' }, () => `http://${service.host}`);
    expect(status, text).toBe(200);
    const query = 'max-buckets=1';
    expect((await sent({ path: '/', query }, () => `http://${service.host}?${query}`)).status).toBe(200);
  });

  it('may be presigned', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const request = presigned(service.host, { path: `/${bucket}/key` }, { key: service.alice });
    const { status, text } = await exchange(service.url, {
      ...request,
      target: `http://${service.host}${request.target}`,
    });
    expect([status, text]).toEqual([200, 'content']);
  });

  it.each([
    ['of another host', (path: string) => `http://other.example.com${path}`],
    ['of another port', (path: string) => `http://${service.host.replace(/:\d+$/, '')}:1${path}`],
    ['spelt otherwise', (path: string) => `http://${service.host.replace('127.0.0.1', '127.0.0.01')}${path}`],
    ['with a user', (path: string) => `http://user@${service.host}${path}`],
    ['with a host that begins like it', (path: string) => `http://${service.host}.example.com${path}`],
    ['of another scheme', (path: string) => `ftp://${service.host}${path}`],
    ['without a scheme', (path: string) => `${service.host}${path}`],
  ])('%s is refused', async (_, target) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const response = await sent({ path: `/${bucket}/key` }, target);
    expect(response.status).toBe(400);
  });

  it('whose path was not signed is refused', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const response = await sent({ path: `/${bucket}/other` }, () => `http://${service.host}/${bucket}/key`);
    expectError(response, 403, 'SignatureDoesNotMatch');
  });
});
