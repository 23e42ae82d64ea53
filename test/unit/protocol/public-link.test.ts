import { describe, expect, it } from 'vitest';
import { publicUrl, readAs } from '../../../shared/command-line/option-values.ts';
import { Fields } from '../../../shared/http/message.ts';
import type { RequestHead } from '../../../shared/protocol/operation.ts';
import { baseUrl, isHarmless, publicLinkUrl } from '../../../shared/protocol/public-link.ts';

function request(host: string, more: object = {}): RequestHead<'bucket'> {
  const fields = new Fields([['host', host]]);
  return {
    bucket: 'bucket',
    fields,
    secure: false,
    virtualHost: false,
    settings: {},
    ...more,
  } as RequestHead<'bucket'>;
}

describe('the address of a link', () => {
  it.each([
    ['scheme and host of the request', request('127.0.0.1:9000'), 'http://127.0.0.1:9000'],
    ['over TLS', request('s3.test', { secure: true }), 'https://s3.test'],
    ['without the label of the bucket', request('bucket.s3.test:9000', { virtualHost: true }), 'http://s3.test:9000'],
    [
      'as the operator has set it',
      request('bucket.s3.test', { virtualHost: true, settings: { publicUrl: 'https://links.test/base' } }),
      'https://links.test/base',
    ],
  ])('%s', (_, head, base) => {
    expect(publicLinkUrl(baseUrl(head), 'token')).toBe(`${base}/_public/token`);
  });

  it.each([
    ['https://links.test', 'https://links.test'],
    ['https://links.test/', 'https://links.test'],
    ['http://links.test:81/base//', 'http://links.test:81/base'],
  ])('may be set to %s', (given, url) => {
    expect(readAs(publicUrl, given)).toBe(url);
  });

  it.each([
    'links.test',
    'ftp://links.test',
    'https://links.test/?a',
    'https://a:b@links.test',
    'https://links.test#a',
    '',
  ])('may not be set to %s', (given) => {
    expect(() => readAs(publicUrl, given)).toThrow('Must be an http or https URL');
  });
});

describe('what a browser may show', () => {
  it.each(['text/plain', 'Image/PNG', 'text/plain; charset=utf-8', 'audio/mpeg', 'video/mp4', 'application/json'])(
    '%s',
    (type) => {
      expect(isHarmless(type)).toBe(true);
    },
  );

  it.each([
    undefined,
    '',
    'text/html',
    'image/svg+xml',
    'application/octet-stream',
    'text/plain,text/html',
    'text/plain\ttext/html',
    'image/png+xml',
    'text/xml',
    'text/css',
    'multipart/x-mixed-replace',
  ])('not %s', (type) => {
    expect(isHarmless(type)).toBe(false);
  });
});
