import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { readAuthorizationHeader } from '../../../shared/signing/v4/authorization-header.ts';

const now = Date.UTC(2013, 4, 24);
const timing = { now, allowedSkew: 900_000, longestLifetime: 604_800_000 };
const digits = (digit: string): string => digit.repeat(64);

function read(authorization: string): ReturnType<typeof readAuthorizationHeader> {
  const fields = new Fields([
    ['authorization', authorization],
    ['x-amz-date', '20130524T000000Z'],
    ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
  ]);
  return readAuthorizationHeader(fields, timing);
}

const credential = 'Credential=AKID/20130524/us-east-1/s3/aws4_request';

describe('an Authorization header whose beginning was read before', () => {
  it('says the same with another signature', () => {
    const before = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host;x-amz-date, Signature=`;
    const first = read(before + digits('a'));
    expect(first).toMatchObject({ accessKeyId: 'AKID', signature: digits('a'), signedHeaders: ['host', 'x-amz-date'] });
    expect(read(before + digits('b'))).toEqual({ ...first, signature: digits('b') });
  });

  it('is refused if the signature is no longer one', () => {
    const before = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=`;
    read(before + digits('a'));
    expect(() => read(before + digits('A'))).toThrow('64 lower-case hexadecimal digits');
    expect(() => read(before + digits('a').slice(1))).toThrow('64 lower-case hexadecimal digits');
    expect(() => read(`${before}0${digits('a')}`)).toThrow('64 lower-case hexadecimal digits');
  });

  it('is read anew where the signature does not end it, even if its last name looks like one', () => {
    const before = `AWS4-HMAC-SHA256 Signature=${digits('a')}, ${credential}, SignedHeaders=host;`;
    expect(read(before + digits('a')).signedHeaders).toEqual(['host', digits('a')]);
    expect(read(before + digits('b'))).toMatchObject({ signature: digits('a'), signedHeaders: ['host', digits('b')] });
  });
});
