import { describe, expect, it } from 'vitest';
import { ResponseScanner, type ScannedResponse } from '../../bench/requests/response-scanner.ts';

/** Scans a response in pieces of the given size, and returns the result. */
function scanned(text: string, size: number, { isHead = false, keeps = true } = {}): ScannedResponse | undefined {
  const scanner = new ResponseScanner();
  scanner.expect(isHead, keeps);
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) {
    const response = scanner.take(Buffer.from(bytes.subarray(at, at + size)));
    if (response !== undefined) {
      expect(at + size).toBeGreaterThanOrEqual(bytes.length);
      return response;
    }
  }
  return scanner.end();
}

const sizes = [1, 2, 3, 7, 1000];

describe('the responses to a load generator', () => {
  it.each(sizes)('end with the announced length, in pieces of %i', (size) => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: "x"\r\n\r\nhello';
    expect(scanned(text, size)).toMatchObject({ status: 200, bytes: 5, text: 'hello', closes: false });
    expect(scanned(text, size, { keeps: false })).toMatchObject({ bytes: 5, text: '' });
  });

  it.each(sizes)('end with the last chunk, in pieces of %i', (size) => {
    const text =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nt: u\r\n\r\n';
    expect(scanned(text, size)).toMatchObject({ status: 200, bytes: 13, text: 'abc0123456789' });
  });

  it.each(sizes)('have no body after HEAD, 204 and 304, in pieces of %i', (size) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 4096\r\nconnection: close\r\n\r\n';
    expect(scanned(head, size, { isHead: true })).toMatchObject({ status: 200, bytes: 0, closes: true });
    expect(scanned('HTTP/1.1 204 No Content\r\n\r\n', size)).toMatchObject({ status: 204, bytes: 0 });
    expect(scanned('HTTP/1.1 304 Not Modified\r\n\r\n', size)).toMatchObject({ status: 304, bytes: 0 });
  });

  it.each(sizes)('follow 100 Continue, in pieces of %i', (size) => {
    const text = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    expect(scanned(text, size)).toMatchObject({ status: 200, text: 'ok' });
  });

  it('keep the body of an error, and end with the connection where nothing else says so', () => {
    const refusal = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy';
    expect(scanned(refusal, 1000, { keeps: false })).toMatchObject({ status: 503, text: 'busy' });
    expect(scanned('HTTP/1.1 200 OK\r\n\r\nall of it', 4)).toMatchObject({ text: 'all of it', closes: true });
  });

  it('are refused if they are none', () => {
    expect(() => scanned('SSH-2.0\r\n\r\n', 1000)).toThrow('no response');
    expect(() => scanned('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nmore', 1000)).toThrow('more than');
  });
});
