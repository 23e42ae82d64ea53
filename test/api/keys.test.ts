import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf, queryOf } from '../support/clients/signer.ts';

/** A key is only a name: syntax of paths, URLs, file systems and XML has no effect in it. */
const service = serviceUnderTest();

const longest = 1024;
const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1));

const strange: readonly string[] = [
  // Paths that servers, clients and file systems tend to normalise.
  ...['/', '//', '///', '/leading', '//leading', 'trailing/', 'trailing//', 'a//b', 'a/', 'a/b/', 'a'],
  ...[
    '.',
    '..',
    './a',
    '../a',
    '../../../etc/passwd',
    'a/.',
    'a/..',
    'a/./b',
    'a/../b',
    '...',
    '/..',
    '/../a',
    '..;/a',
  ],
  ...['\\', '\\..\\a', 'a\\b', '..\\..\\a', 'C:\\con', 'con', 'NUL', 'aux.txt', '~', '.~', 'a:b', 'a|b'],
  // Syntax of URLs.
  ...[
    '%',
    '%%',
    '%2F',
    '%2f',
    '%252F',
    '%00',
    '%zz',
    '+',
    'a+b',
    'a b',
    ' ',
    '  ',
    ' a',
    'a ',
    '?',
    'a?b',
    'a?acl',
    '#',
    'a#b',
  ],
  ...[
    '&',
    'a&b=c',
    '=',
    ';',
    'a;b',
    ':',
    '@',
    '!',
    '*',
    '()',
    "'",
    '"',
    '$',
    ',',
    '^',
    '`',
    '{}',
    '[]',
    '-',
    '_',
    '.a',
  ],
  ...['_stillage/health', 'ping', 'null', 'undefined', '__proto__', 'constructor', 'toString'],
  // Syntax of XML.
  ...[
    '<',
    '>',
    '<Key>',
    '</Key>',
    '&amp;',
    '&#65;',
    '<![CDATA[a]]>',
    ']]>',
    '<!--',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ufffe',
    '\uffff',
  ],
  ...[...controls, '\u007f', '\u009f', 'a\r\nb', 'a\rb', 'a\tb', controls.join('')],
  // Two spellings of one letter, and characters that sort differently in UTF-16 and UTF-8.
  ...[
    '\u00e9',
    'e\u0301',
    '\u00df',
    'SS',
    'I',
    '\u0130',
    '\u0131',
    'A',
    '\uff61',
    '\ud800\udc00',
    '\udbff\udfff',
    '\ue000',
  ],
  ...[
    '\u{1f600}',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    '\u202egnp.exe',
    '\u200b',
    '\u65e5\u672c\u8a9e/\u30ad\u30fc',
  ],
  // The longest there are.
  ...['x', '/', '%', '\u0001', '\u007f', '\u00ff', '\uffff', '\u{1f600}', 'a/', '../'].map(longestOf),
];

function longestOf(unit: string): string {
  const repeated = unit.repeat(longest / Buffer.byteLength(unit));
  return repeated + 'z'.repeat(longest - Buffer.byteLength(repeated));
}

/** In the order of their bytes in UTF-8, as listings have them. */
function inOrder(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

async function put(bucket: string, key: string): Promise<void> {
  const response = await service.send({ method: 'PUT', path: pathOf(bucket, key), body: contentOf(key) });
  expect({ key, status: response.status }).toEqual({ key, status: 200 });
}

const contentOf = (key: string): string => `the content of ${JSON.stringify(key)}`;

async function expectFound(bucket: string, key: string): Promise<void> {
  const got = await service.send({ path: pathOf(bucket, key) });
  expect({ key, status: got.status, text: got.text }).toEqual({ key, status: 200, text: contentOf(key) });
  const head = await service.send({ method: 'HEAD', path: pathOf(bucket, key) });
  expect({ key, status: head.status, etag: head.header('etag') }).toEqual({
    key,
    status: 200,
    etag: got.header('etag'),
  });
}

async function expectDeleted(bucket: string, key: string): Promise<void> {
  expect((await service.send({ method: 'DELETE', path: pathOf(bucket, key) })).status).toBe(204);
  const got = await service.send({ path: pathOf(bucket, key) });
  expectError(got, 404, 'NoSuchKey');
  expect(textOf(got.text, 'Key')).toBe(key);
}

/** All keys of a listing, page by page. Each is unescaped the way its pages are escaped. */
async function list(bucket: string, parameters: Record<string, string> = {}): Promise<string[]> {
  const keys: string[] = [];
  const decode = parameters['encoding-type'] === 'url' ? decodeListed : (key: string) => key;
  for (let token: string | undefined = ''; token !== undefined;) {
    const query = queryOf({ 'list-type': '2', ...parameters, ...(token !== '' && { 'continuation-token': token }) });
    const { status, text } = await service.send({ path: pathOf(bucket), query });
    expect(status, text).toBe(200);
    keys.push(...textsOf(text, 'Key').map(decode));
    token = textOf(text, 'NextContinuationToken');
  }
  return keys;
}

function decodeListed(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

describe('strange keys', () => {
  it('are put, found, listed in the order of their bytes, and deleted', { timeout: 600_000 }, async () => {
    const bucket = await service.bucket();
    await Promise.all(strange.map((key) => put(bucket, key)));
    await Promise.all(strange.map((key) => expectFound(bucket, key)));

    const ordered = inOrder(strange);
    expect(await list(bucket)).toEqual(ordered);
    expect(await list(bucket, { 'encoding-type': 'url' })).toEqual(ordered);
    expect(await list(bucket, { 'encoding-type': 'url', 'max-keys': '7' })).toEqual(ordered);

    for (const [index, key] of ordered.entries()) {
      const behind = await list(bucket, { 'encoding-type': 'url', 'start-after': key });
      expect(behind, `behind ${JSON.stringify(key)}`).toEqual(ordered.slice(index + 1));
      const below = await list(bucket, { 'encoding-type': 'url', prefix: key });
      expect(below, `below ${JSON.stringify(key)}`).toEqual(ordered.filter((one) => one.startsWith(key)));
    }
    await Promise.all(strange.map((key) => expectDeleted(bucket, key)));
    expect(await list(bucket)).toEqual([]);
  });

  it('are any that fast-check finds', { timeout: 600_000 }, async () => {
    const key = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .filter((one) => !one.includes('\0') && Buffer.byteLength(one) <= longest);
    const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 12 });
    const pageSize = fc.integer({ min: 1, max: 5 });
    const bucket = await service.bucket();
    const numRuns = process.env['TEST_LONG'] ? 300 : 25;
    await fc.assert(
      fc.asyncProperty(keys, pageSize, async (some, size) => {
        await Promise.all(some.map((one) => put(bucket, one)));
        const listed = await list(bucket, { 'encoding-type': 'url', 'max-keys': String(size) });
        expect(listed).toEqual(inOrder(some));
        for (const one of some) await expectFound(bucket, one);
        await Promise.all(some.map((one) => expectDeleted(bucket, one)));
      }),
      { numRuns },
    );
  });

  it('are refused where they are no keys', async () => {
    const bucket = await service.bucket();
    const answer = (raw: string) => service.send({ method: 'PUT', path: `/${bucket}/${raw}`, body: 'content' });
    expectError(await answer('x'.repeat(longest + 1)), 400, 'InvalidObjectName');
    expectError(await answer('%F0%9F%98%80'.repeat(longest / 4) + 'x'), 400, 'InvalidObjectName');
    expectError(await answer('a%FFb'), 400, 'InvalidObjectName');
    expectError(await answer('%ED%A0%80'), 400, 'InvalidObjectName');
    expectError(await answer('%C0%AF'), 400, 'InvalidObjectName');
    expectError(await answer('a%00b'), 400, 'InvalidRequest');
    expectError(await answer('a%zz'), 400, 'InvalidURI');
    expectError(await answer('a%2'), 400, 'InvalidURI');
    expect(await list(bucket)).toEqual([]);
  });
});
