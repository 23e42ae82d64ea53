import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import {
  markerOf,
  positionOf,
  readListingToken,
  writeListingToken,
} from '../../../../shared/storage/listings/listing-token.ts';

const key = Buffer.from('a key of the service');
const scope = ['bucket-id', 'photos/', '/'];
const token = writeListingToken(key, scope, { after: 'photos/2026/😀' });

function refused(read: () => unknown): void {
  let thrown: unknown;
  try {
    read();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(S3Error);
  expect(thrown).toMatchObject({ code: 'InvalidArgument', details: { ArgumentName: 'continuation-token' } });
}

describe('listing tokens', () => {
  it('read as they were written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (after, inside) => {
        const position = inside ? { after, inside } : { after };
        expect(readListingToken(key, scope, writeListingToken(key, scope, position))).toEqual(position);
      }),
    );
  });

  it('are base64url', () => {
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it.each([
    ['another bucket', ['other', 'photos/', '/']],
    ['another prefix', ['bucket-id', 'photo', '/']],
    ['another delimiter', ['bucket-id', 'photos/', '']],
    ['another division of the same text', ['bucket-id', 'photos', '//']],
  ])('are bound: %s', (_, other) => {
    refused(() => readListingToken(key, other, token));
  });

  it('are of no use with another key', () => {
    refused(() => readListingToken(Buffer.from('another key'), scope, token));
  });

  it.each(['', 'x', 'garbage', '../..', token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`, token.slice(0, 22)])(
    'refuse %j',
    (garbage) => {
      refused(() => readListingToken(key, scope, garbage));
    },
  );

  it('refuse any change of any character', () => {
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      refused(() => readListingToken(key, scope, changed));
    }
  });
});

describe('markers of ListObjects', () => {
  it.each([
    ['a key', { after: 'photos/cat.jpg' }, 'photos/', '/'],
    ['a common prefix', { after: 'photos/2026/' }, 'photos/', '/'],
    ['a dead key in a group', { after: 'photos/2026/cat.jpg', inside: true }, 'photos/', '/'],
    ['a key that ends with the sign', { after: 'cat\u{10ffff}' }, '', '/'],
    ['a key that ends with the sign, without a delimiter', { after: 'a/cat\u{10ffff}' }, '', ''],
    ['a common prefix that ends with the sign', { after: 'cat\u{10ffff}' }, '', '\u{10ffff}'],
    ['a dead key named as its group', { after: 'cat\u{10ffff}', inside: true }, '', '\u{10ffff}'],
  ])('%s comes back as it was', (_, position, prefix, delimiter) => {
    expect(positionOf(markerOf(position), prefix, delimiter)).toEqual(position);
  });

  it('are plain text to clients', () => {
    expect(markerOf({ after: 'photos/cat.jpg' })).toBe('photos/cat.jpg');
  });

  it('may be empty: from the beginning', () => {
    expect(positionOf('', 'p', '/')).toBeUndefined();
  });
});
