import { describe, expect, it } from 'vitest';
import { attachment, baseName, fileNameOf } from '../../../../shared/http/fields/content-disposition.ts';

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('fileNameOf', () => {
  it.each([
    ['attachment; filename="a b.txt"', 'a b.txt'],
    ['attachment; filename=plain.txt', 'plain.txt'],
    ['ATTACHMENT;FILENAME = "x"', 'x'],
    [String.raw`inline; filename="say \"hi\".txt"`, 'say "hi".txt'],
    [`attachment; filename="x"; filename*=UTF-8''%e2%82%ac.txt`, '€.txt'],
    [`attachment; filename*=utf-8'en'%E2%82%AC.txt; filename="x"`, '€.txt'],
    [`attachment; filename*=UTF-8''%zz; filename="fallback"`, 'fallback'],
    [`attachment; filename*=ISO-8859-1''%A3`, undefined],
    [latin1('attachment; filename="Grüße.txt"'), 'Grüße.txt'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    [String.raw`attachment; filename=C:\evil.exe`, 'evil.exe'],
    ['attachment; filename="folder/"', undefined],
    ['attachment', undefined],
    ['', undefined],
    ['attachment; name="x"', undefined],
  ])('%s', (value, name) => {
    expect(fileNameOf(value)).toBe(name);
  });
});

describe('attachment', () => {
  it.each([
    ['plain.txt', 'attachment; filename="plain.txt"'],
    ['a b; c.txt', 'attachment; filename="a b; c.txt"'],
    ['€ (1).txt', `attachment; filename="_ (1).txt"; filename*=UTF-8''%E2%82%AC%20%281%29.txt`],
    ['😀', `attachment; filename="_"; filename*=UTF-8''%F0%9F%98%80`],
    ['a"b%c', `attachment; filename="a_b_c"; filename*=UTF-8''a%22b%25c`],
    ["it's*", 'attachment; filename="it\'s*"'],
    ['a\r\nset-cookie: x', `attachment; filename="a__set-cookie: x"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x`],
  ])('of %j', (name, value) => {
    expect(attachment(name)).toBe(value);
    expect(fileNameOf(value)).toBe(name);
  });
});

it.each([
  ['a/b/c.txt', 'c.txt'],
  ['c.txt', 'c.txt'],
  ['a\\b', 'b'],
  ['a/', undefined],
  ['', undefined],
])('baseName of %j', (path, name) => {
  expect(baseName(path)).toBe(name);
});
