import { expect, it } from 'vitest';
import { rangeApplies } from '../../../shared/http/if-range.ts';

const object = { etag: 'abc-2', lastModified: Date.UTC(2026, 10, 20, 10, 0, 0, 700) };

it.each([
  [undefined, true],
  ['"abc-2"', true],
  ['abc-2', true],
  [' "abc-2" ', true],
  ['"x"', false],
  ['W/"abc-2"', false],
  ['"abc-2", "x"', false],
  ['*', false],
  ['', false],
  ['Fri, 20 Nov 2026 10:00:00 GMT', true],
  ['Fri, 20 Nov 2026 10:00:01 GMT', false],
  ['Fri, 20 Nov 2026 09:59:59 GMT', false],
])('If-Range %j → %s', (field, applies) => {
  expect(rangeApplies(field, object)).toBe(applies);
});
