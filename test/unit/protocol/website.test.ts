import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findRule,
  folderLocation,
  pageKey,
  redirectAllLocation,
  ruleLocation,
  type Visit,
} from '../../../shared/protocol/website.ts';
import type { Redirect, RoutingRule } from '../../../shared/documents/website.ts';

const visit = (key: string, secure = false): Visit => ({ host: 'site.website.example', secure, key });

describe('the page of a path', () => {
  it.each([
    ['', 'index.html'],
    ['folder/', 'folder/index.html'],
    ['a//', 'a//index.html'],
    ['folder', 'folder'],
    ['a/b.html', 'a/b.html'],
  ])('%j is %j', (key, page) => {
    expect(pageKey(key, 'index.html')).toBe(page);
  });
});

describe('a routing rule', () => {
  const redirect = {};
  const rules: readonly RoutingRule[] = [
    { prefix: 'docs/', redirect },
    { prefix: 'docs/old/', redirect },
    { prefix: 'images/', errorCode: 404, redirect },
    { errorCode: 404, redirect },
    { errorCode: 403, redirect },
  ];

  it.each([
    ['docs/a', undefined, 0],
    ['docs/old/a', undefined, 0],
    ['images/a', undefined, undefined],
    ['a', undefined, undefined],
    ['images/a', 404, 2],
    ['a', 404, 3],
    ['a', 403, 4],
    ['a', 400, undefined],
    ['docs/a', 400, undefined],
  ])('of %j, with the error %j', (key, error, at) => {
    expect(findRule(rules, key, error)).toBe(at === undefined ? undefined : rules[at]);
  });

  it('without a condition is for everything, before anything is read', () => {
    expect(findRule([{ redirect }], 'a')).toEqual({ redirect });
    expect(findRule([{ redirect }], 'a', 404)).toBeUndefined();
  });
});

describe('a redirect', () => {
  const location = (redirect: Redirect, key: string, prefix?: string, secure?: boolean): string =>
    ruleLocation({ redirect, ...(prefix !== undefined && { prefix }) }, visit(key, secure));

  it.each<[Redirect, string, string | undefined, string]>([
    [{ replacePrefix: 'documents/' }, 'docs/a b.html', 'docs/', '/documents/a%20b.html'],
    [{ replacePrefix: '' }, 'docs/a.html', 'docs/', '/a.html'],
    [{ replacePrefix: '#!/' }, 'about', undefined, '/#!/about'],
    [{ replaceKey: 'error.html?from=s3' }, 'docs/a.html', 'docs/', '/error.html?from=s3'],
    [{ host: 'b.example' }, 'docs/ä?.html', 'docs/', 'http://b.example/docs/%C3%A4%3F.html'],
    [{ host: 'b.example:8080', protocol: 'https' }, '', undefined, 'https://b.example:8080/'],
    [{ host: 'b.example', replacePrefix: 'd/' }, 'docs/a', 'docs/', 'http://b.example/d/a'],
    [{ protocol: 'https' }, 'a', undefined, 'https://site.website.example/a'],
    [{ code: 307, replaceKey: 'x' }, 'a', undefined, '/x'],
  ])('%j of %j behind %j leads to %j', (redirect, key, prefix, expected) => {
    expect(location(redirect, key, prefix)).toBe(expected);
  });

  it('keeps the protocol of the visitor, unless it names one', () => {
    expect(location({ host: 'b.example' }, 'a', undefined, true)).toBe('https://b.example/a');
    expect(redirectAllLocation({ host: 'b.example' }, visit('a/b c', true))).toBe('https://b.example/a/b%20c');
    expect(redirectAllLocation({ host: 'b.example', protocol: 'http' }, visit('', true))).toBe('http://b.example/');
  });

  it('of a folder adds its slash', () => {
    expect(folderLocation('a/ä')).toBe('/a/%C3%A4/');
  });

  it('never leads a visitor to a host of their choice, nor adds headers', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (key) => {
        for (const path of [
          folderLocation(key),
          location({ replacePrefix: '' }, key),
          location({ replaceKey: key }, ''),
        ]) {
          expect(new URL(path, 'http://site.example/folder/').host).toBe('site.example');
          // eslint-disable-next-line no-control-regex -- control characters are what must not be there
          expect(path).toMatch(/^[^\u0000-\u0020\u007f-\uffff]*$/);
        }
        const elsewhere = location({ host: 'b.example' }, key);
        expect(new URL(elsewhere).host).toBe('b.example');
      }),
      { examples: [['/evil.example'], ['//evil.example'], ['\\\\evil.example'], ['@evil.example'], ['\r\nx: y']] },
    );
  });
});
