import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { Fields } from '../../../shared/http/message.ts';
import {
  isConditionalWrite,
  judgeDelete,
  judgeRead,
  judgeRenameTarget,
  judgeSource,
  judgeWrite,
  parseDeleteConditions,
  parseEntityTags,
  parsePreconditions,
  rangeApplies,
  verdictError,
} from '../../../shared/http/preconditions.ts';
import { expectLinear } from '../../support/runs/growth.ts';

const lastModified = Date.UTC(2026, 10, 20, 10, 0, 0, 700);
const object = { etag: 'abc', lastModified, size: 9 };
const before = 'Fri, 20 Nov 2026 09:59:59 GMT';
const same = 'Fri, 20 Nov 2026 10:00:00 GMT';
const after = 'Fri, 20 Nov 2026 10:00:01 GMT';

function conditions(fields: Record<string, string>, prefix = '') {
  return parsePreconditions(new Fields(Object.entries(fields).map(([name, value]) => [prefix + name, value])), prefix);
}

describe('entity tags', () => {
  it.each([
    ['"abc"', ['abc']],
    ['abc', ['abc']],
    ['W/"abc"', ['abc']],
    ['"a", W/"b",c', ['a', 'b', 'c']],
    ['"a,b"', ['a,b']],
    ['"abc-2"', ['abc-2']],
    ['""', ['']],
    ['', []],
    [' , ', []],
    ['*', '*'],
    ['"*"', '*'],
    ['"a", *', '*'],
  ])('%j → %j', (value, tags) => {
    expect(parseEntityTags(value)).toEqual(tags);
  });

  it('of many quotes are read in linear time', () => {
    expectLinear(100_001, (size) => parseEntityTags('"a'.repeat(size)));
    expectLinear(100_000, (size) => parseEntityTags(`${'W/'.repeat(size)}"`));
  });
});

describe('reading the fields', () => {
  it('judges nothing, and ignores dates that are none', () => {
    expect(
      conditions({
        'If-Match': '"a"',
        'If-None-Match': '*',
        'If-Modified-Since': same,
        'If-Unmodified-Since': 'yesterday',
      }),
    ).toEqual({
      prefix: '',
      ifMatch: ['a'],
      ifNoneMatch: '*',
      ifModifiedSince: Date.UTC(2026, 10, 20, 10),
      ifUnmodifiedSince: undefined,
    });
    expect(conditions({ 'if-match': 'x' }, 'x-amz-copy-source-').ifMatch).toEqual(['x']);
    expect(parsePreconditions(new Fields([['x-amz-copy-source-if-match', 'x']])).ifMatch).toBeUndefined();
  });

  it('tells whether a write is conditional', () => {
    expect(isConditionalWrite(conditions({ 'if-none-match': '*' }))).toBe(true);
    expect(isConditionalWrite(conditions({ 'if-match': '' }))).toBe(true);
    expect(isConditionalWrite(conditions({ 'if-modified-since': same }))).toBe(false);
  });
});

/** The four fields, and the result of GET; a copy source fails (412) wherever GET fails or returns 304. */
const table: [match: string, unmodified: string, noneMatch: string, modified: string, verdict: string][] = [
  ['', '', '', '', 'proceed'],
  ['"abc"', '', '', '', 'proceed'],
  ['abc', '', '', '', 'proceed'],
  ['W/"abc"', '', '', '', 'proceed'],
  ['"x", "abc"', '', '', '', 'proceed'],
  ['*', '', '', '', 'proceed'],
  ['"x"', '', '', '', 'If-Match'],
  ['', before, '', '', 'If-Unmodified-Since'],
  ['', same, '', '', 'proceed'],
  ['', after, '', '', 'proceed'],
  ['', 'nonsense', '', '', 'proceed'],
  ['"abc"', before, '', '', 'proceed'],
  ['"x"', after, '', '', 'If-Match'],
  ['', '', '"abc"', '', 'not-modified'],
  ['', '', 'abc', '', 'not-modified'],
  ['', '', 'W/"abc"', '', 'not-modified'],
  ['', '', '"x", abc', '', 'not-modified'],
  ['', '', '*', '', 'not-modified'],
  ['', '', '"x"', '', 'proceed'],
  ['', '', '', before, 'proceed'],
  ['', '', '', same, 'not-modified'],
  ['', '', '', after, 'not-modified'],
  ['', '', '', 'nonsense', 'proceed'],
  ['', '', '"x"', after, 'proceed'],
  ['', '', '"abc"', before, 'not-modified'],
  ['"abc"', '', '"abc"', '', 'not-modified'],
  ['"x"', '', '"abc"', '', 'If-Match'],
  ['', before, '"abc"', '', 'If-Unmodified-Since'],
  ['"abc"', before, '"x"', after, 'proceed'],
  ['', before, '', after, 'If-Unmodified-Since'],
  ['', after, '', after, 'not-modified'],
];

function fieldsOf([match, unmodified, noneMatch, modified]: (typeof table)[number]): Record<string, string> {
  const fields = {
    'if-match': match,
    'if-unmodified-since': unmodified,
    'if-none-match': noneMatch,
    'if-modified-since': modified,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

describe('GET and HEAD', () => {
  it.each(table)('If-Match %s, If-Unmodified-Since %s, If-None-Match %s, If-Modified-Since %s → %s', (...row) => {
    const expected = row[4].startsWith('If-') ? { failed: row[4] } : row[4];
    expect(judgeRead(conditions(fieldsOf(row)), object)).toEqual(expected);
  });
});

describe('a copy source', () => {
  const prefix = 'x-amz-copy-source-';

  it.each(table)('if-match %s, if-unmodified-since %s, if-none-match %s, if-modified-since %s (GET: %s)', (...row) => {
    const failing = row[4] === 'not-modified' ? (row[2] === '' ? 'If-Modified-Since' : 'If-None-Match') : row[4];
    expect(judgeSource(conditions(fieldsOf(row), prefix), object)).toEqual(
      failing === 'proceed' ? 'proceed' : { failed: prefix + failing },
    );
  });
});

describe('writes', () => {
  it.each([
    // If-Match, If-None-Match, over an object, over nothing
    ['', '', 'proceed', 'proceed'],
    ['', '*', 'If-None-Match', 'proceed'],
    ['', '"abc"', 'If-None-Match', 'proceed'],
    ['', 'abc', 'If-None-Match', 'proceed'],
    ['', '"x"', 'proceed', 'proceed'],
    ['"abc"', '', 'proceed', 'no-such-key'],
    ['abc', '', 'proceed', 'no-such-key'],
    ['"x"', '', 'If-Match', 'no-such-key'],
    ['*', '', 'proceed', 'no-such-key'],
    ['*', '*', 'If-None-Match', 'no-such-key'],
    ['"abc"', '"x"', 'proceed', 'no-such-key'],
  ])('If-Match %s, If-None-Match %s → over an object %s, over nothing %s', (match, noneMatch, over, absent) => {
    const asked = conditions(fieldsOf([match, '', noneMatch, '', '']));
    expect(judgeWrite(asked, object)).toEqual(over.startsWith('If-') ? { failed: over } : over);
    expect(judgeWrite(asked, undefined)).toBe(absent);
  });

  it('know no dates, but renames do', () => {
    const unmodified = conditions({ 'if-unmodified-since': before });
    expect(judgeWrite(unmodified, object)).toBe('proceed');
    expect(judgeRenameTarget(unmodified, object)).toEqual({ failed: 'If-Unmodified-Since' });
    expect(judgeRenameTarget(unmodified, undefined)).toBe('proceed');
    expect(judgeRenameTarget(conditions({ 'if-modified-since': same }), object)).toEqual({
      failed: 'If-Modified-Since',
    });
    expect(judgeRenameTarget(conditions({ 'if-match': '*' }), undefined)).toBe('no-such-key');
    expect(judgeRenameTarget(conditions({ 'if-none-match': '*' }), object)).toEqual({ failed: 'If-None-Match' });
  });

  it('an empty If-Match matches nothing', () => {
    expect(judgeWrite(conditions({ 'if-match': '' }), object)).toEqual({ failed: 'If-Match' });
  });
});

describe('DELETE', () => {
  const asked = (fields: Record<string, string>) => parseDeleteConditions(new Fields(Object.entries(fields)));
  const time = 'x-amz-if-match-last-modified-time';
  const size = 'x-amz-if-match-size';

  it.each<[Record<string, string>, string]>([
    [{}, 'proceed'],
    [{ 'if-match': '"abc"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': 'x' }, 'If-Match'],
    [{ [time]: same }, 'proceed'],
    [{ [time]: '2026-11-20T10:00:00.000Z' }, 'proceed'],
    [{ [time]: '2026-11-20T10:00:00.999Z' }, 'proceed'],
    [{ [time]: before }, time],
    [{ [time]: after }, time],
    [{ [size]: '9' }, 'proceed'],
    [{ [size]: '0' }, size],
    [{ 'if-match': 'abc', [time]: same, [size]: '8' }, size],
    [{ 'if-match': 'x', [time]: same, [size]: '9' }, 'If-Match'],
  ])('%j → %s', (fields, verdict) => {
    expect(judgeDelete(asked(fields), object)).toEqual(verdict === 'proceed' ? verdict : { failed: verdict });
    expect(judgeDelete(asked(fields), undefined)).toBe('proceed');
  });

  it.each([
    [time, 'yesterday'],
    [time, ''],
    [size, 'NaN'],
    [size, '-1'],
    [size, ''],
    [size, '9'.repeat(30)],
  ])('%s: %j → InvalidArgument', (name, value) => {
    expect(() => asked({ [name]: value })).toThrow(S3Error);
  });
});

it('verdicts become errors', () => {
  expect(verdictError('proceed')).toBeUndefined();
  expect(verdictError('not-modified')).toBeUndefined();
  expect(verdictError('no-such-key')).toMatchObject({ code: 'NoSuchKey' });
  expect(verdictError({ failed: 'If-Match' })).toMatchObject({
    code: 'PreconditionFailed',
    details: { Condition: 'If-Match' },
  });
});

const ranged = { etag: 'abc-2', lastModified: Date.UTC(2026, 10, 20, 10, 0, 0, 700) };

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
  expect(rangeApplies(field, ranged)).toBe(applies);
});
