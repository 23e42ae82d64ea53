import { describe, expect, it } from 'vitest';
import { RequestSigner } from '../../bench/requests/signed-request.ts';
import { signed } from '../../support/clients/signer.ts';

const key = { accessKeyId: 'AKBENCH', secretAccessKey: 'bench-secret-key' };
const host = '127.0.0.1:9000';
const time = Date.UTC(2026, 10, 23, 1, 2, 3);

describe('the requests of a load generator', () => {
  it('are signed as the documentation of the signature says', () => {
    const request = { method: 'GET', path: '/bench', query: 'list-type=2&max-keys=10' } as const;
    const { head } = new RequestSigner(host, key, time).sign(request);
    const expected = signed(host, request, { key, time });
    const authorization = new Map(expected.headers).get('authorization')!;
    expect(head.toString()).toContain(`GET /bench?list-type=2&max-keys=10 HTTP/1.1\r\n`);
    expect(head.toString()).toContain(`authorization: ${authorization}\r\n`);
  });

  it('carry short bodies with their head, and long ones apart, each made once', () => {
    const signer = new RequestSigner(host, key, time);
    const short = signer.sign({ method: 'PUT', path: '/bench/a', body: { bytes: 4096 } });
    expect(short.body).toBeUndefined();
    expect(short.head.length).toBe(short.head.indexOf('\r\n\r\n') + 4 + 4096);
    const long = signer.sign({ method: 'PUT', path: '/bench/a', body: { bytes: 2 ** 20 } });
    expect(long.body?.length).toBe(2 ** 20);
    expect(signer.sign({ method: 'PUT', path: '/bench/b', body: { bytes: 2 ** 20 } }).body).toBe(long.body);
  });

  it('are framed with their checksum in a trailer', () => {
    const signer = new RequestSigner(host, key, time);
    const { head } = signer.sign({ method: 'PUT', path: '/bench/a', body: { bytes: 10, framing: 'trailer' } });
    const text = head.toString('latin1');
    expect(text).toContain('x-amz-decoded-content-length: 10\r\n');
    expect(text).toMatch(/\r\n\r\na\r\n[^]{10}\r\n0\r\nx-amz-checksum-crc32:.{6}==\r\n\r\n$/);
    expect(text).toContain(`content-length: ${head.length - head.indexOf('\r\n\r\n') - 4}\r\n`);
  });

  it('are not signed without a key', () => {
    expect(new RequestSigner(host, undefined, time).sign({ method: 'HEAD', path: '/a' }).head.toString()).toBe(
      `HEAD /a HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    );
  });
});
