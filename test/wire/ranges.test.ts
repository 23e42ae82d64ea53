import { CopyObjectCommand } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { md5Tag, put } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { runs } from '../support/runs/runs.ts';
import { multipartTag, partOf, TestUpload } from '../support/storage/uploads.ts';

/** RFC 9110 §14 and https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */

const service = serviceUnderTest();
const content = '0123456789';

let bucket: string;
beforeAll(async () => {
  bucket = await service.lastingBucket();
  await put(service.client, bucket, 'ten', content);
  await put(service.client, bucket, 'empty', '');
});

const get = (headers: Record<string, string>, key = 'ten', query = '') =>
  service.send({ path: `/${bucket}/${key}`, query, headers });

describe('a range', () => {
  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-4', '234', '2-4'],
    ['bytes=9-9', '9', '9-9'],
    ['bytes=0-', '0123456789', '0-9'],
    ['bytes=5-', '56789', '5-9'],
    ['bytes=-1', '9', '9-9'],
    ['bytes=-4', '6789', '6-9'],
    ['bytes=-10', '0123456789', '0-9'],
    ['bytes=-99', '0123456789', '0-9'],
    ['bytes=7-99', '789', '7-9'],
    ['bytes=7-99999999999999999999', '789', '7-9'],
    ['BYTES=1-2', '12', '1-2'],
    [' bytes=1-2 ', '12', '1-2'],
  ])('%s is answered with 206', async (range, text, contentRange) => {
    const response = await get({ range });
    expect([response.status, response.text]).toEqual([206, text]);
    expect(response.header('content-range')).toBe(`bytes ${contentRange}/10`);
    expect(response.header('content-length')).toBe(String(text.length));
    const head = await service.send({ method: 'HEAD', path: `/${bucket}/ten`, headers: { range } });
    expect([head.status, head.header('content-range')]).toEqual([206, `bytes ${contentRange}/10`]);
  });

  it.each(['bytes=10-', 'bytes=10-10', 'bytes=99-100', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s is not satisfiable',
    async (range) => {
      const response = await get({ range });
      expectError(response, 416, 'InvalidRange');
      expect(response.header('content-range')).toBe('bytes */10');
      const head = await service.send({ method: 'HEAD', path: `/${bucket}/ten`, headers: { range } });
      expect([head.status, head.header('content-range')]).toEqual([416, 'bytes */10']);
    },
  );

  it.each(['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0'])('%s is never satisfiable of nothing', async (range) => {
    const response = await get({ range }, 'empty');
    expectError(response, 416, 'InvalidRange');
    expect(response.header('content-range')).toBe('bytes */0');
  });

  it.each([
    'bytes=4-2',
    'bytes=-',
    'bytes=',
    'bytes',
    'bytes 0-1',
    'bytes=a-b',
    'bytes=1-2,4-5',
    'bytes=0-0,-1',
    'items=0-1',
    'bytes=0x1-2',
    'bytes=+1-2',
    'bytes=1.5-2',
    '',
  ])('that is none is ignored: "%s"', async (range) => {
    const response = await get({ range });
    expect([response.status, response.text]).toEqual([200, content]);
    expect(response.header('content-range')).toBeUndefined();
  });

  it('goes together with conditions, which come first', async () => {
    expect((await get({ range: 'bytes=99-', 'if-match': '"other"' })).status).toBe(412);
    expect((await get({ range: 'bytes=99-', 'if-none-match': '*' })).status).toBe(304);
    expect((await get({ range: 'bytes=0-1', 'if-match': md5Tag(content) })).status).toBe(206);
  });
});

describe('If-Range', () => {
  const lastModified = async () =>
    (await service.send({ method: 'HEAD', path: `/${bucket}/ten` })).header('last-modified')!;

  it('lets the range count for the object it names', async () => {
    const range = 'bytes=0-1';
    expect((await get({ range, 'if-range': md5Tag(content) })).status).toBe(206);
    expect((await get({ range, 'if-range': await lastModified() })).status).toBe(206);
  });

  it.each(['"other"', `W/${md5Tag(content)}`, 'Thu, 01 Jan 1970 00:00:00 GMT', 'nonsense'])(
    'lets the whole be answered for %s',
    async (ifRange) => {
      const response = await get({ range: 'bytes=0-1', 'if-range': ifRange });
      expect([response.status, response.text]).toEqual([200, content]);
      expect((await get({ range: 'bytes=99-', 'if-range': ifRange })).status).toBe(200);
    },
  );
});

describe('partNumber', () => {
  it('1 is the whole of an object that was uploaded at once, and there is no other', async () => {
    const whole = await get({}, 'ten', 'partNumber=1');
    expect([whole.status, whole.text]).toEqual([206, content]);
    expect(whole.header('x-amz-mp-parts-count')).toBeUndefined();
    expectError(await get({}, 'ten', 'partNumber=2'), 400, 'InvalidPart');
  });

  it.each(['0', '-1', '10001', 'one', ''])('must be a number of a part: "%s"', async (number) => {
    expectError(await get({}, 'ten', `partNumber=${number}`), 400, 'InvalidArgument');
  });

  it('does not go with a range', async () => {
    expectError(await get({ range: 'bytes=0-1' }, 'ten', 'partNumber=1'), 400, 'InvalidRequest');
  });

  it('is a part of an object in parts', async () => {
    const upload = await TestUpload.begin(service.client, bucket, 'parts');
    const bodies = [partOf('a'), partOf('b', 7), Buffer.from('c')];
    const parts = [];
    for (const [at, body] of bodies.entries()) parts.push(await upload.part(at + 1, body));
    await upload.complete(parts);
    const total = bodies.reduce((sum, { length }) => sum + length, 0);
    let first = 0;
    for (const [at, body] of bodies.entries()) {
      const range = `bytes ${first}-${first + body.length - 1}/${total}`;
      for (const method of ['GET', 'HEAD']) {
        const response = await service.send({ method, path: `/${bucket}/parts`, query: `partNumber=${at + 1}` });
        expect(response.status).toBe(206);
        expect(response.header('content-range')).toBe(range);
        expect(response.header('x-amz-mp-parts-count')).toBe('3');
        expect(response.header('etag')).toBe(multipartTag(bodies));
        expect(response.header('content-length')).toBe(String(body.length));
        if (method === 'GET') expect(response.body.equals(body)).toBe(true);
      }
      first += body.length;
    }
    expectError(await get({}, 'parts', 'partNumber=4'), 400, 'InvalidPart');
    const plain = await service.send({ method: 'HEAD', path: `/${bucket}/parts` });
    expect(plain.header('x-amz-mp-parts-count')).toBeUndefined();
  });

  it('is the number that the part was uploaded as, also where others are left out', async () => {
    const upload = await TestUpload.begin(service.client, bucket, 'gaps');
    const parts = [await upload.part(2, partOf('a')), await upload.part(10_000, 'b')];
    await upload.complete(parts);
    await service.client.send(
      new CopyObjectCommand({ Bucket: bucket, Key: 'gaps-copied', CopySource: `${bucket}/gaps` }),
    );
    for (const key of ['gaps', 'gaps-copied']) {
      expect((await get({}, key, 'partNumber=2')).body.equals(partOf('a'))).toBe(true);
      const last = await get({}, key, 'partNumber=10000');
      expect([last.status, last.text, last.header('x-amz-mp-parts-count')]).toEqual([206, 'b', '2']);
      for (const number of [1, 3]) expectError(await get({}, key, `partNumber=${number}`), 400, 'InvalidPart');
    }
  });
});

describe('response-*', () => {
  const overrides = {
    'response-content-type': ['content-type', 'text/html'],
    'response-content-language': ['content-language', 'de'],
    'response-expires': ['expires', 'never'],
    'response-cache-control': ['cache-control', 'no-store'],
    'response-content-disposition': ['content-disposition', 'attachment; filename="a b"'],
    'response-content-encoding': ['content-encoding', 'x-own'],
  } as const;

  it.each(Object.entries(overrides))('%s replaces its header in 200 and 206', async (parameter, [name, value]) => {
    const query = `${parameter}=${encodeURIComponent(value)}`;
    for (const headers of [{}, { range: 'bytes=0-1' }]) {
      for (const method of ['GET', 'HEAD']) {
        const response = await service.send({ method, path: `/${bucket}/ten`, query, headers });
        expect(response.header(name)).toBe(value);
      }
    }
    const presigned = await service.sendPresigned({ path: `/${bucket}/ten`, query });
    expect(presigned.header(name)).toBe(value);
  });

  it('replaces nothing in an error or in 304', async () => {
    const query = 'response-content-type=text%2Fhtml';
    expect((await get({}, 'missing', query)).header('content-type')).toBe('application/xml');
    expect((await get({ range: 'bytes=99-' }, 'ten', query)).header('content-type')).toBe('application/xml');
    expect((await get({ 'if-none-match': '*' }, 'ten', query)).header('content-type')).toBeUndefined();
  });

  it('needs a signature', async () => {
    const response = await service.sendUnsigned({ path: `/${bucket}/ten`, query: 'response-content-type=text%2Fhtml' });
    expectError(response, 400, 'InvalidRequest');
  });

  it.each(['a%0D%0Ax-injected%3A%201', 'a%0Ab', 'a%0Db', 'a%00b', 'a%1Fb', 'a%7Fb'])(
    'cannot inject anything: %s',
    async (value) => {
      for (const parameter of Object.keys(overrides)) {
        const response = await get({}, 'ten', `${parameter}=${value}`);
        expectError(response, 400, 'InvalidRequest');
        expect(response.header('x-injected')).toBeUndefined();
      }
    },
  );
});

/** Any range of any object equals the slice of its bytes. */
it('ranges are slices', async () => {
  const large = Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * 31 + (n >> 8)) % 251));
  await put(service.client, bucket, 'large', large);
  const size = large.length;
  const position = fc.oneof(fc.nat(size + 10), fc.constantFrom(0, 1, size - 1, size, size + 1, 65_535, 65_536, 65_537));
  const range = fc.record({ first: fc.option(position), last: fc.option(position) });
  await fc.assert(
    fc.asyncProperty(range, async ({ first, last }) => {
      const response = await get({ range: `bytes=${first ?? ''}-${last ?? ''}` }, 'large');
      if ((first === null && last === null) || (first !== null && last !== null && last < first)) {
        expect(response.status).toBe(200);
        expect(response.body.equals(large)).toBe(true);
        return;
      }
      const slice =
        first === null ? large.subarray(Math.max(0, size - last!)) : large.subarray(first, (last ?? size) + 1);
      if (slice.length === 0 || (last === 0 && first === null)) {
        expectError(response, 416, 'InvalidRange');
        return;
      }
      expect(response.status).toBe(206);
      expect(response.body.equals(slice)).toBe(true);
      const from = first ?? size - slice.length;
      expect(response.header('content-range')).toBe(`bytes ${from}-${from + slice.length - 1}/${size}`);
    }),
    { numRuns: runs(150) },
  );
});
