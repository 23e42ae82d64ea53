import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../../shared/signing/v4/credential-scope.ts';
import { parsePayloadHash } from '../../../../shared/signing/v4/payload-hash.ts';

const aws = dialectOf('AWS4-HMAC-SHA256');
const neutral = dialectOf('SVC4-HMAC-SHA256');
const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('parsePayloadHash', () => {
  it.each([
    [digest, aws, { kind: 'digest', sha256: digest }],
    [digest.toUpperCase(), undefined, { kind: 'digest', sha256: digest }],
    ['UNSIGNED-PAYLOAD', neutral, { kind: 'unsigned' }],
    ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', undefined, { kind: 'chunks', signed: false, trailers: true }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', aws, { kind: 'chunks', signed: true, trailers: false }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', aws, { kind: 'chunks', signed: true, trailers: true }],
    ['STREAMING-SVC4-HMAC-SHA256-PAYLOAD', neutral, { kind: 'chunks', signed: true, trailers: false }],
    ['STREAMING-SVC4-HMAC-SHA256-PAYLOAD-TRAILER', neutral, { kind: 'chunks', signed: true, trailers: true }],
  ])('reads %s', (value, dialect, hash) => {
    expect(parsePayloadHash(value, dialect)).toEqual(hash);
  });

  it.each([
    ['', aws, 'InvalidArgument'],
    ['invalid', aws, 'InvalidArgument'],
    ['unsigned-payload', aws, 'InvalidArgument'],
    [`${digest},${digest}`, aws, 'InvalidArgument'],
    [digest.slice(1), aws, 'InvalidArgument'],
    ['STREAMING-UNSIGNED-PAYLOAD', aws, 'InvalidArgument'],
    ['STREAMING-AWS4-HMAC-SHA512-PAYLOAD', aws, 'InvalidArgument'],
    ['STREAMING-SVC4-HMAC-SHA256-PAYLOAD', aws, 'InvalidArgument'],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', neutral, 'InvalidArgument'],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', undefined, 'InvalidRequest'],
    ['STREAMING-SVC4-HMAC-SHA256-PAYLOAD-TRAILER', undefined, 'InvalidRequest'],
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', aws, 'NotImplemented'],
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER', undefined, 'NotImplemented'],
  ])('answers to %j', (value, dialect, code) => {
    expect(() => parsePayloadHash(value, dialect)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
