import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atOnce } from '../../../../shared/ports/event-loop.ts';
import {
  anyMany,
  canMatchBehind,
  codePoints,
  matchesWildcards,
  PatternSet,
  readWildcards,
  type Pattern,
} from '../../../../shared/access/policies/wildcard.ts';

const matchingPatterns = (patterns: readonly Pattern[], text: Pattern): ReadonlySet<number> =>
  atOnce(new PatternSet(patterns).matching(text));
const matches = (pattern: string, text: string): boolean => matchesWildcards(readWildcards(pattern), codePoints(text));

it.each([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['*', 'a/b', true],
  ['?', '', false],
  ['?', 'a', true],
  ['?', '😀', true],
  ['??', '😀', false],
  ['a*', 'a', true],
  ['a*', 'A', false],
  ['*a', 'ba', true],
  ['*a', 'ab', false],
  ['a*b*c', 'aXbYc', true],
  ['a*b*c', 'abcb', false],
  ['a*bc', 'abbc', true],
  ['b/*', 'b', false],
  ['b/*', 'b/', true],
  ['a.c', 'abc', false],
  ['[a]', 'a', false],
])('%j and %j: %s', (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

/** A naive implementation, which takes exponential time. */
function plainly(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === '*') return plainly(rest, text) || (text !== '' && plainly(pattern, text.slice(1)));
  return text !== '' && (first === '?' || first === text[0]) && plainly(rest, text.slice(1));
}

const letters = (from: string, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...from), { maxLength }).map((all) => all.join(''));

it('matches what the plain definition matches', () => {
  fc.assert(
    fc.property(letters('ab*?', 8), letters('ab', 8), (pattern, text) => {
      expect(matches(pattern, text)).toBe(plainly(pattern, text));
    }),
  );
});

it.each([
  ['one by one', ''],
  ['all at once, as one of them takes too long', `${'*'.repeat(33_000)}c`],
])('tells of many patterns which ones match, each by itself: %s', (_, another) => {
  fc.assert(
    fc.property(fc.array(letters('ab*?', 8), { maxLength: 20 }), letters('ab', 8), (some, text) => {
      const patterns = [another, ...some];
      const expected = [...patterns.keys()].filter(
        (place) => patterns[place] !== another && plainly(patterns[place]!, text),
      );
      const found = [...matchingPatterns(patterns.map(readWildcards), codePoints(text))];
      expect(found.filter((place) => patterns[place] !== another).sort((a, b) => a - b)).toEqual(expected);
    }),
  );
});

/** Of many equal letters before a mismatch. */
const stretched = fc
  .tuple(letters('ab', 3), fc.integer({ min: 0, max: 70 }), letters('ab', 3))
  .map(([begin, count, end]) => begin + 'a'.repeat(count) + end);

it('finds long stretches between stars, where they are', () => {
  fc.assert(
    fc.property(fc.array(stretched, { minLength: 1, maxLength: 4 }), stretched, (stretches, wanted) => {
      const text = stretches.join('');
      const holes = wanted.replace(/a(?=b)/g, '?');
      expect(matches(`*${wanted}*`, text)).toBe(text.includes(wanted));
      expect(matches(`*${holes}*`, text)).toBe(new RegExp(holes.replaceAll('?', '.')).test(text));
      expect(matches(`*${wanted}*${wanted}`, text + wanted)).toBe(text.includes(wanted));
    }),
  );
});

it('finds several long stretches, one behind the other', () => {
  const parts = fc.array(stretched, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, fc.constantFrom('', 'b'), (wanted, there, between) => {
      const text = there.join(between);
      const expression = new RegExp(`^[^]*${wanted.join('[^]*')}[^]*$`);
      expect(matches(`*${wanted.join('*')}*`, text)).toBe(expression.test(text));
      expect(matches(`*${wanted.join('*')}*`, wanted.join(between))).toBe(true);
      expect(matches(`b*${wanted.join('*')}*b`, `b${text}b`)).toBe(expression.test(text));
    }),
  );
});

it('can match after a prefix exactly if some text with that prefix matches', () => {
  // As long as the longest pattern: a text that matches need not be longer.
  const pairs = ['aa', 'ab', 'ba', 'bb'];
  const endings = ['a', 'b', ...pairs].flatMap((one) => [one, ...pairs.map((pair) => one + pair)]);
  fc.assert(
    fc.property(letters('ab*?', 4), letters('ab', 2), (pattern, beginning) => {
      const possible = endings.some((ending) => plainly(pattern, beginning + ending));
      expect(canMatchBehind(readWildcards(pattern), codePoints(beginning))).toBe(possible);
    }),
  );
});

it('comes to an end for patterns that ruin a matcher which tries everything', () => {
  expect(matches('*a'.repeat(5_000), 'a'.repeat(4_999))).toBe(false);
  expect(matches(`${'*a'.repeat(500)}b`, 'a'.repeat(8_000))).toBe(false);
  expect(matches(`${'?*'.repeat(500)}b`, 'a'.repeat(8_000))).toBe(false);
  expect(matches('*'.repeat(20_000), 'a'.repeat(1_000))).toBe(true);
  expect(matches(`*${'a'.repeat(9_000)}b*`, 'a'.repeat(16_000))).toBe(false);
  expect(matches(`*${'a?'.repeat(4_500)}b*`, 'a'.repeat(16_000))).toBe(false);
  const many = Array.from({ length: 5_000 }, (_, place) => readWildcards(`*a?${place === 4_321 ? 'a' : 'b'}*`));
  expect([...matchingPatterns(many, codePoints('a'.repeat(50_000)))]).toEqual([4_321]);
  expect(canMatchBehind(readWildcards('*a'.repeat(5_000)), codePoints('a'.repeat(64)))).toBe(true);
  expect(readWildcards('a*')).toEqual([97, anyMany]);
});
