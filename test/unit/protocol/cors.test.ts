import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { corsFields, matchCors, matchesPattern, readCorsRequest } from '../../../shared/protocol/cors.ts';
import type { CorsRule } from '../../../shared/documents/cors.ts';

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'https://any.example', true],
    ['https://a.example', 'https://a.example', true],
    ['https://a.example', 'https://a.example.org', false],
    ['https://*.example', 'https://a.b.example', true],
    ['https://*.example', 'https://.example', true],
    ['https://*.example', 'https://example', false],
    ['https://*.example', 'http://a.example', false],
    ['start*', 'startend', true],
    ['*end', 'startend', true],
    ['*end', 'startends', false],
    ['start*end', 'startend', true],
    ['start*end', 'start-end', true],
    ['star*tend', 'startend', true],
    ['start*tend', 'startend', false],
    ['aba*aba', 'aba', false],
    ['a.b', 'axb', false],
    ['a?', 'ab', false],
  ])('%j and the text %j: %j', (pattern, text, matches) => {
    expect(matchesPattern(pattern, text)).toBe(matches);
  });

  it('matches whatever it was made of by a hole', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (start, middle, end) => {
        fc.pre(!(start + end).includes('*'));
        expect(matchesPattern(`${start}*${end}`, start + middle + end)).toBe(true);
      }),
    );
  });

  it('matches as the regular expression that it stands for', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, text, (start, end, tried) => {
        const escape = (one: string): string => one.replaceAll('.', '\\.');
        const expression = new RegExp(`^${escape(start)}.*${escape(end)}$`);
        expect(matchesPattern(`${start}*${end}`, tried)).toBe(expression.test(tried));
      }),
    );
  });
});

const a = 'https://a.example';
const rules: readonly CorsRule[] = [
  { id: 'upload', origins: [a], methods: ['PUT', 'POST'], headers: ['x-amz-*', 'Content-Type'], expose: ['ETag'] },
  { id: 'read', origins: ['https://*.example', '*'], methods: ['GET'], maxAge: 60 },
  { id: 'anything', origins: [a], methods: ['GET', 'PUT'], headers: ['*'] },
];
const matched = (origin: string, method: string, ...headers: string[]): string | undefined =>
  matchCors(rules, { origin, method, headers })?.rule.id;

describe('a rule', () => {
  it.each([
    [a, 'PUT', [], 'upload'],
    [a, 'PUT', ['X-AMZ-Acl', 'content-TYPE'], 'upload'],
    [a, 'PUT', ['x-amz-acl', 'x-other'], 'anything'],
    [a, 'POST', ['x-other'], undefined],
    [a, 'GET', [], 'read'],
    [a, 'GET', ['range'], 'anything'],
    [a, 'DELETE', [], undefined],
    [a, 'put', [], undefined],
    ['https://b.example', 'GET', [], 'read'],
    ['https://b.example', 'PUT', [], undefined],
    ['http://elsewhere', 'GET', [], 'read'],
    ['null', 'GET', [], 'read'],
    ['HTTPS://A.EXAMPLE', 'PUT', [], undefined],
  ] as const)('is the first that fits all of %s %s %j', (origin, method, headers, id) => {
    expect(matched(origin, method, ...headers)).toBe(id);
  });

  it('names the origin, and the star only where it says nothing else', () => {
    const allowOrigin = (origin: string): string | undefined =>
      matchCors(rules, { origin, method: 'GET', headers: [] })?.allowOrigin;
    expect(allowOrigin(a)).toBe(a);
    expect(allowOrigin('http://elsewhere')).toBe('*');
  });

  it('is none for more headers than a browser would ask for', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `x-${at}`);
    expect(matched(a, 'PUT', ...names(100))).toBe('anything');
    expect(matched(a, 'PUT', ...names(101))).toBeUndefined();
  });

  it('is no pattern that takes long', () => {
    const long: readonly CorsRule[] = [{ origins: [`${'a'.repeat(30_000)}*${'a'.repeat(30_000)}b`], methods: ['GET'] }];
    for (let round = 0; round < 1000; round += 1) {
      expect(matchCors(long, { origin: 'a'.repeat(60_001), method: 'GET', headers: [] })).toBeUndefined();
    }
  });
});

describe('what a browser says', () => {
  it('is nothing without an origin', () => {
    expect(readCorsRequest(new Fields([['access-control-request-method', 'PUT']]), 'OPTIONS')).toBeUndefined();
    expect(readCorsRequest(new Fields([['origin', '']]), 'GET')).toBeUndefined();
  });

  it('is the method of the request, unless it names one', () => {
    expect(readCorsRequest(new Fields([['origin', a]]), 'GET')).toEqual({ origin: a, method: 'GET', headers: [] });
    const fields = new Fields([
      ['Origin', a],
      ['Access-Control-Request-Method', 'PUT'],
      ['Access-Control-Request-Headers', 'x-One, ,x-two,'],
      ['Access-Control-Request-Headers', 'x-three'],
    ]);
    expect(readCorsRequest(fields, 'GET')).toEqual({
      origin: a,
      method: 'PUT',
      headers: ['x-One', 'x-two', 'x-three'],
    });
  });
});

describe('what is answered', () => {
  it('is what the rule says, and never credentials', () => {
    const rule = { origins: [a], methods: ['GET', 'PUT'], expose: ['ETag', 'x-amz-meta-a'], maxAge: 0 };
    expect(corsFields({ rule, allowOrigin: a })).toEqual([
      ['access-control-allow-origin', a],
      ['access-control-allow-methods', 'GET, PUT'],
      ['access-control-expose-headers', 'ETag, x-amz-meta-a'],
      ['access-control-max-age', '0'],
    ]);
    expect(corsFields({ rule: { origins: ['*'], methods: ['GET'] }, allowOrigin: '*' })).toEqual([
      ['access-control-allow-origin', '*'],
      ['access-control-allow-methods', 'GET'],
    ]);
  });
});
