import { describe, expect, it } from 'vitest';
import { markerOf, positionOf } from '../../../../shared/metadata/listings/listing-marker.ts';

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
