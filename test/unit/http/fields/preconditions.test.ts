import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { Fields } from '../../../../shared/http/message.ts';
import {
  conditionFields,
  evaluated,
  firstDropped,
  judgeDelete,
  judgeRead,
  judgeRenameTarget,
  judgeSource,
  judgeWrite,
  parseEntityTags,
  rangeApplies,
  verdictError,
} from '../../../../shared/http/fields/preconditions.ts';
import { expectLinear } from '../../../support/runs/growth.ts';

const lastModified = Date.UTC(2026, 10, 20, 10, 0, 0, 700);
const object = { etag: 'abc', lastModified, size: 9 };
const before = 'Fri, 20 Nov 2026 09:59:59 GMT';
const same = 'Fri, 20 Nov 2026 10:00:00 GMT';
const after = 'Fri, 20 Nov 2026 10:00:01 GMT';

function conditions(fields: Record<string, string>) {
  return evaluated.ofRead.read(new Fields(Object.entries(fields)));
}

function onSource(fields: Record<string, string>) {
  const prefixed = Object.entries(fields).map(([name, value]) => [`x-amz-copy-source-${name}`, value] as const);
  return evaluated.ofCopy.read(new Fields(prefixed)).source;
}

function ofWrite(fields: Record<string, string>) {
  return evaluated.ofWrite.read(new Fields(Object.entries(fields)));
}

function ofRename(fields: Record<string, string>) {
  return evaluated.ofRename.read(new Fields(Object.entries(fields))).target;
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
    expect(onSource({ 'if-match': 'x' }).ifMatch).toEqual(['x']);
    expect(conditions({ 'x-amz-copy-source-if-match': 'x' }).ifMatch).toBeUndefined();
  });

  it.each(conditionFields)('%s is dropped by an operation without conditions', (name) => {
    expect(firstDropped(new Fields([[name, '*']]), undefined)).toBe(name);
    expect(firstDropped(new Fields([['range', 'bytes=0-1']]), undefined)).toBeUndefined();
  });

  it.each([
    ['"a"', 'If-None-Match'],
    ['', 'If-None-Match'],
    ['*', undefined],
    ['"*"', undefined],
    ['"a", *', undefined],
  ])('a write evaluates If-None-Match only if there must be nothing: %s', (value, dropped) => {
    expect(firstDropped(new Fields([['if-none-match', value]]), evaluated.ofWrite)).toBe(dropped);
    expect(firstDropped(new Fields([['if-none-match', value]]), evaluated.ofRead)).toBeUndefined();
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
    expect(judgeSource(onSource(fieldsOf(row)), object)).toEqual(
      failing === 'proceed' ? 'proceed' : { failed: prefix + failing },
    );
  });
});

describe('writes', () => {
  it.each([
    // If-Match, If-None-Match, over an object, over nothing
    ['', '', 'proceed', 'proceed'],
    ['', '*', 'If-None-Match', 'proceed'],
    ['"abc"', '', 'proceed', 'no-such-key'],
    ['abc', '', 'proceed', 'no-such-key'],
    ['"x"', '', 'If-Match', 'no-such-key'],
    ['*', '', 'proceed', 'no-such-key'],
    ['*', '*', 'If-None-Match', 'no-such-key'],
  ])('If-Match %s, If-None-Match %s → over an object %s, over nothing %s', (match, noneMatch, over, absent) => {
    const asked = ofWrite(fieldsOf([match, '', noneMatch, '', '']));
    expect(judgeWrite(asked, object)).toEqual(over.startsWith('If-') ? { failed: over } : over);
    expect(judgeWrite(asked, undefined)).toBe(absent);
  });

  it('know no dates, but renames do', () => {
    expect(firstDropped(new Fields([['if-unmodified-since', before]]), evaluated.ofWrite)).toBe('If-Unmodified-Since');
    const unmodified = ofRename({ 'if-unmodified-since': before });
    expect(judgeRenameTarget(unmodified, object)).toEqual({ failed: 'If-Unmodified-Since' });
    expect(judgeRenameTarget(unmodified, undefined)).toBe('proceed');
    expect(judgeRenameTarget(ofRename({ 'if-modified-since': same }), object)).toEqual({
      failed: 'If-Modified-Since',
    });
    expect(judgeRenameTarget(ofRename({ 'if-match': '*' }), undefined)).toBe('no-such-key');
    expect(judgeRenameTarget(ofRename({ 'if-none-match': '*' }), object)).toEqual({ failed: 'If-None-Match' });
  });

  it('an empty If-Match matches nothing', () => {
    expect(judgeWrite(ofWrite({ 'if-match': '' }), object)).toEqual({ failed: 'If-Match' });
  });
});

describe('DELETE', () => {
  const asked = (fields: Record<string, string>) => evaluated.ofDelete.read(new Fields(Object.entries(fields)));
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
    expect(judgeDelete(asked(fields), undefined)).toBe('no-such-key');
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
