import { beforeAll, describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { md5Tag, put } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** RFC 9110 §13 and https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-reads.html */

const service = serviceUnderTest();
const content = 'content';
const tag = md5Tag(content);
const other = md5Tag('other');

/** Of these tests only, and read only. */
let path: string;
let lastModified: number;
beforeAll(async () => {
  const bucket = await service.lastingBucket();
  await put(service.client, bucket, 'key', content);
  path = `/${bucket}/key`;
  const { header } = await service.send({ method: 'HEAD', path });
  lastModified = Date.parse(header('last-modified')!);
});

/** A date some seconds before or after the object's. */
const at = (seconds: number) => () => new Date(lastModified + seconds * 1000).toUTCString();

type Conditions = Readonly<Record<string, string | (() => string)>>;

const cases: [status: number, conditions: Conditions, condition?: string][] = [
  // If-Match
  [200, { 'if-match': tag }],
  [200, { 'if-match': '*' }],
  [200, { 'if-match': tag.replaceAll('"', '') }],
  [200, { 'if-match': `W/${tag}` }],
  [200, { 'if-match': `${other}, ${tag}` }],
  [412, { 'if-match': other }, 'If-Match'],
  [412, { 'if-match': `${other},"more"` }, 'If-Match'],
  [412, { 'if-match': '""' }, 'If-Match'],
  // If-Unmodified-Since
  [200, { 'if-unmodified-since': at(0) }],
  [200, { 'if-unmodified-since': at(60) }],
  [412, { 'if-unmodified-since': at(-1) }, 'If-Unmodified-Since'],
  [200, { 'if-unmodified-since': 'no date' }],
  // If-Match outranks If-Unmodified-Since
  [200, { 'if-match': tag, 'if-unmodified-since': at(-60) }],
  [412, { 'if-match': other, 'if-unmodified-since': at(60) }, 'If-Match'],
  // If-None-Match
  [304, { 'if-none-match': tag }],
  [304, { 'if-none-match': '*' }],
  [304, { 'if-none-match': tag.replaceAll('"', '') }],
  [304, { 'if-none-match': `W/${tag}` }],
  [304, { 'if-none-match': `${other}, ${tag}` }],
  [200, { 'if-none-match': other }],
  // If-Modified-Since
  [304, { 'if-modified-since': at(0) }],
  [304, { 'if-modified-since': at(60) }],
  [200, { 'if-modified-since': at(-1) }],
  [200, { 'if-modified-since': 'no date' }],
  // If-None-Match outranks If-Modified-Since
  [200, { 'if-none-match': other, 'if-modified-since': at(60) }],
  [304, { 'if-none-match': tag, 'if-modified-since': at(-60) }],
  // A failing If-Match comes before not-modified
  [412, { 'if-match': other, 'if-none-match': tag }, 'If-Match'],
  [304, { 'if-match': tag, 'if-none-match': tag }],
  [412, { 'if-unmodified-since': at(-60), 'if-modified-since': at(60) }, 'If-Unmodified-Since'],
  // Dates in the other two forms that HTTP knows
  [304, { 'if-modified-since': 'Friday, 31-Dec-60 23:59:59 GMT' }],
  [304, { 'if-modified-since': 'Fri Dec 31 23:59:59 2060' }],
];

describe.each(['GET', 'HEAD'])('%s', (method) => {
  it.each(cases)('answers %i to %o', async (status, conditions, condition) => {
    const headers = Object.fromEntries(
      Object.entries(conditions).map(([name, value]) => [name, typeof value === 'string' ? value : value()]),
    );
    const response = await service.send({ method, path, headers });
    expect(response.status, response.text).toBe(status);
    if (status === 304) expect(response.header('etag')).toBe(tag);
    if (method === 'HEAD') return;
    if (status === 200) expect(response.text).toBe(content);
    if (status === 412) {
      expectError(response, 412, 'PreconditionFailed');
      expect(textOf(response.text, 'Condition')).toBe(condition);
    }
  });

  it.each([{ 'if-match': '*' }, { 'if-match': '"a"' }, { 'if-none-match': '*' }, { 'if-unmodified-since': at(60)() }])(
    'answers 404 where there is no object, whatever the condition: %o',
    async (headers) => {
      const response = await service.send({ method, path: `${path}-missing`, headers });
      expect(response.status).toBe(404);
    },
  );

  it('does not evaluate any condition for who may not read', async () => {
    const bare = await service.send({ method, path }, { key: service.bob });
    expect(bare.status).toBe(403);
    for (const asked of [
      { headers: { 'if-match': other } },
      { headers: { 'if-none-match': tag } },
      { headers: { 'if-modified-since': at(60)() } },
      { headers: { 'if-unmodified-since': at(-60)() } },
      { headers: { range: 'bytes=100-' } },
      { headers: { range: 'bytes=0-0', 'if-range': tag } },
      { query: 'partNumber=1' },
      { query: 'partNumber=2' },
      { query: 'versionId=null', headers: { 'if-none-match': '*' } },
    ]) {
      for (const response of [
        await service.send({ method, path, ...asked }, { key: service.bob }),
        await service.sendUnsigned({ method, path, ...asked }),
      ]) {
        const without = (text: string) => text.replace(/<RequestId>.*/, '');
        expect([response.status, without(response.text)]).toEqual([403, without(bare.text)]);
        const names = ({ headers: all }: typeof response) => all.map(([name]) => name);
        expect(names(response)).toEqual(names(bare));
      }
    }
  });
});
