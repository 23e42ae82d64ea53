import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { putAll } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { assertSideBySide } from '../support/runs/side-by-side.ts';
import { queryOf } from '../support/clients/signer.ts';

/** Every listing of a bucket equals that of a small model. */

const service = serviceUnderTest();

/** A line of a listing: a key, or a common prefix that stands for many. */
interface Line {
  readonly name: string;
  readonly isGroup: boolean;
}

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** All lines behind a marker, in order. */
function modelLines(keys: readonly string[], { prefix, delimiter, after }: Question): Line[] {
  const lines = new Map<string, boolean>();
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    if (at < 0) lines.set(key, false);
    else lines.set(key.slice(0, at + delimiter.length), true);
  }
  return Array.from(lines, ([name, isGroup]) => ({ name, isGroup }))
    .filter(({ name }) => bytewise(name, after) > 0)
    .sort((a, b) => bytewise(a.name, b.name));
}

interface Question {
  readonly prefix: string;
  readonly delimiter: string;
  readonly after: string;
  readonly size: number;
}

/** Follows a listing from its beginning to its end, and checks every page. */
async function follow(
  bucket: string,
  question: Question,
  kind: Readonly<Record<string, string>>,
  next: (text: string) => Record<string, string> | undefined,
): Promise<Line[]> {
  const { prefix, delimiter, size } = question;
  const found: Line[] = [];
  let position: Record<string, string> | undefined = kind;
  for (let pages = 0; position !== undefined; pages++) {
    expect(pages).toBeLessThan(100);
    const parameters = { ...kind, prefix, delimiter, 'encoding-type': 'url', ...position };
    const response = await service.send({ path: `/${bucket}`, query: queryOf(parameters) });
    expect(response.status, response.text).toBe(200);
    const { text } = response;
    const lines = linesOf(text);
    const isTruncated = textOf(text, 'IsTruncated') === 'true';
    const count = textOf(text, 'KeyCount');
    if (count !== undefined) expect(Number(count)).toBe(lines.length);
    if (isTruncated) expect(lines.length).toBe(size);
    else expect(lines.length).toBeLessThanOrEqual(size);
    found.push(...lines);
    position = next(text);
    expect(position !== undefined).toBe(isTruncated);
  }
  return found;
}

function linesOf(text: string): Line[] {
  const decode = (name: string): string => decodeURIComponent(name);
  const keys = textsOf(text, 'Key').map((name) => ({ name: decode(name), isGroup: false }));
  const groups = Array.from(text.matchAll(/<CommonPrefixes><Prefix>([^<]*)</g), ([, name]) => ({
    name: decode(name!),
    isGroup: true,
  }));
  expect(keys.map(({ name }) => name)).toEqual(keys.map(({ name }) => name).toSorted(bytewise));
  expect(groups.map(({ name }) => name)).toEqual(groups.map(({ name }) => name).toSorted(bytewise));
  return [...keys, ...groups].sort((a, b) => bytewise(a.name, b.name));
}

/** Few characters, so that names share beginnings; some that other orders and other parsers would misplace. */
const characters = ['a', 'b', '/', '/', '-', ' ', '+', '%', 'ä', '\uffee', '𐍈', '\u0001', '&'];
const name = (most: number, ...more: string[]) =>
  fc.string({ unit: fc.constantFrom(...characters, ...more), minLength: 1, maxLength: most });

const dataset = fc.uniqueArray(name(6, '\u{10ffff}'), { minLength: 0, maxLength: 30 });
const question = fc.record({
  prefix: fc.oneof({ arbitrary: fc.constant(''), weight: 2 }, name(2)),
  delimiter: fc.oneof(fc.constant(''), fc.constant('/'), name(2)),
  after: fc.oneof({ arbitrary: fc.constant(''), weight: 2 }, name(3)),
  size: fc.integer({ min: 1, max: 8 }),
});

const decoded = (text: string, element: string): string | undefined => {
  const value = textOf(text, element);
  return value === undefined ? undefined : decodeURIComponent(value);
};

describe('a listing agrees with the model', () => {
  it(
    'whatever the keys, the prefix, the delimiter, the marker and the size of its pages',
    { timeout: 600_000 },
    async () => {
      await assertSideBySide(
        fc.asyncProperty(dataset, fc.array(question, { minLength: 8, maxLength: 8 }), async (keys, questions) => {
          const bucket = await service.temporaryBucket();
          try {
            await putAll(service.client, bucket.name, keys);
            for (const one of questions) {
              const expected = modelLines(keys, one);
              const size = { 'max-keys': String(one.size) };
              const v1 = await follow(bucket.name, one, { ...size, marker: one.after }, (text) => {
                const marker = decoded(text, 'NextMarker');
                return marker === undefined ? undefined : { marker };
              });
              expect(v1).toEqual(expected);
              const start = { ...size, 'list-type': '2', 'start-after': one.after };
              const v2 = await follow(bucket.name, one, start, (text) => {
                const token = textOf(text, 'NextContinuationToken');
                return token === undefined ? undefined : { 'continuation-token': token };
              });
              expect(v2).toEqual(expected);
              const versions = await follow(
                bucket.name,
                one,
                { ...size, versions: '', 'key-marker': one.after },
                (text) => {
                  const marker = decoded(text, 'NextKeyMarker');
                  const id = textOf(text, 'NextVersionIdMarker');
                  return marker === undefined
                    ? undefined
                    : { 'key-marker': marker, ...(id !== undefined && { 'version-id-marker': id }) };
                },
              );
              expect(versions).toEqual(expected);
            }
          } finally {
            await bucket.remove();
          }
        }),
        30,
      );
    },
  );

  it('of uploads, too', { timeout: 600_000 }, async () => {
    await assertSideBySide(
      fc.asyncProperty(dataset, fc.array(question, { minLength: 8, maxLength: 8 }), async (keys, questions) => {
        const bucket = await service.temporaryBucket();
        try {
          await Promise.all(
            keys.map((key) =>
              service.send({ method: 'POST', path: `/${bucket.name}/${encodeURIComponent(key)}`, query: 'uploads' }),
            ),
          );
          for (const one of questions) {
            const kind = { uploads: '', 'max-uploads': String(one.size), 'key-marker': one.after };
            const found = await follow(bucket.name, one, kind, (text) => {
              const marker = decoded(text, 'NextKeyMarker');
              const id = textOf(text, 'NextUploadIdMarker');
              return marker === undefined
                ? undefined
                : { 'key-marker': marker, ...(id !== undefined && { 'upload-id-marker': id }) };
            });
            expect(found).toEqual(modelLines(keys, one));
          }
        } finally {
          await bucket.remove();
        }
      }),
      12,
    );
  });
});
