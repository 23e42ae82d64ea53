import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { put, putAll, setVersioning } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { queryOf } from '../support/clients/signer.ts';

/** The common rules of all listings, and details that an SDK hides. */

const service = serviceUnderTest();

/** Parameters that select a listing. */
const v1 = {};
const v2 = { 'list-type': '2' };
const versions = { versions: '' };
const uploads = { uploads: '' };
const listings = [
  ['ListObjects', v1, 'max-keys', 'MaxKeys'],
  ['ListObjectsV2', v2, 'max-keys', 'MaxKeys'],
  ['ListObjectVersions', versions, 'max-keys', 'MaxKeys'],
  ['ListMultipartUploads', uploads, 'max-uploads', 'MaxUploads'],
] as const;

interface Listed {
  readonly text: string;
  readonly keys: string[];
  readonly prefixes: string[];
  readonly of: (element: string) => string | undefined;
}

async function list(bucket: string, parameters: Record<string, string>): Promise<Listed> {
  const response = await service.send({ path: `/${bucket}`, query: queryOf(parameters) });
  expect(response.status, response.text).toBe(200);
  const { text } = response;
  const keys = textsOf(text, 'Key');
  const prefixes = Array.from(text.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/g), ([whole]) =>
    textOf(whole.replace('<CommonPrefixes>', ''), 'Prefix')!,
  );
  return { text, keys, prefixes, of: (element) => textOf(text, element) };
}

/** A bucket with these keys, as objects and as uploads that are open. */
async function holding(...keys: string[]): Promise<string> {
  const bucket = await service.bucket();
  await putAll(service.client, bucket, keys);
  for (const key of keys) {
    const path = `/${bucket}/${encodeURIComponent(key)}`;
    expect((await service.send({ method: 'POST', path, query: 'uploads' })).status).toBe(200);
  }
  return bucket;
}

describe.each(listings)('%s', (_, kind, size, element) => {
  const refused = async (bucket: string, parameters: Record<string, string>) => {
    const response = await service.send({ path: `/${bucket}`, query: queryOf({ ...kind, ...parameters }) });
    expectError(response, 400, 'InvalidArgument');
    return response;
  };

  it('orders keys by their bytes in UTF-8', async () => {
    const keys = ['!', '0', 'A', 'a', 'a b', 'a/', 'a/b', 'a0', 'z', 'ä', '€', '\uffee', '𐍈'];
    const bucket = await holding(...keys.toReversed());
    expect((await list(bucket, kind)).keys).toEqual(keys);
  });

  it.each(['-1', 'many', '1.5', '1e2', '0x10', '+5', ' 5', '99999999999'])('refuses a page of "%s"', async (value) => {
    const response = await refused(await service.bucket(), { [size]: value });
    expect(textOf(response.text, 'ArgumentName')).toBe(size);
  });

  it('takes a larger page for the largest, none for the default, and 0 for nothing', async () => {
    const bucket = await holding('a', 'b');
    expect((await list(bucket, { ...kind, [size]: '1001' })).of(element)).toBe('1000');
    expect((await list(bucket, { ...kind, [size]: '2147483647' })).of(element)).toBe('1000');
    expect((await list(bucket, { ...kind, [size]: '' })).of(element)).toBe('1000');
    expect((await list(bucket, kind)).of(element)).toBe('1000');
    const nothing = await list(bucket, { ...kind, [size]: '0' });
    expect([nothing.keys, nothing.of('IsTruncated'), nothing.of(element)]).toEqual([[], 'false', '0']);
  });

  it.each([
    ['/', ['a/'], ['b', 'c-d-e']],
    ['-', ['c-'], ['a/1', 'a/2', 'b']],
    ['-d', ['c-d'], ['a/1', 'a/2', 'b']],
    ['a/', ['a/'], ['b', 'c-d-e']],
    ['nowhere', [], ['a/1', 'a/2', 'b', 'c-d-e']],
  ])('rolls up at the first "%s" behind the prefix', async (delimiter, prefixes, keys) => {
    const bucket = await holding('a/1', 'a/2', 'b', 'c-d-e');
    const listed = await list(bucket, { ...kind, delimiter });
    expect([listed.prefixes, listed.keys]).toEqual([prefixes, keys]);
    expect(listed.of('Delimiter')).toBe(delimiter);
  });

  it('takes any text for a delimiter', async () => {
    for (const delimiter of ['%', ' ', '\u0001', '/'.repeat(3), 'ä', '𐍈', '+', '&<>"', '\n', 'x'.repeat(1024)]) {
      const bucket = await holding(`a${delimiter.slice(0, 500)}b`);
      const listed = await list(bucket, { ...kind, delimiter });
      expect(listed.of('Delimiter')).toBe(delimiter);
      if (delimiter.length < 500) expect(listed.prefixes).toEqual([`a${delimiter}`]);
    }
  });

  it('rolls up behind the prefix only, which need not end at a delimiter', async () => {
    const bucket = await holding('a/b/c', 'a/b/d', 'a/be', 'a/bf/g');
    const listed = await list(bucket, { ...kind, prefix: 'a/b', delimiter: '/' });
    expect([listed.prefixes, listed.keys]).toEqual([['a/b/', 'a/bf/'], ['a/be']]);
  });

  it('ignores an empty delimiter and does not echo it', async () => {
    const listed = await list(await holding('a/1'), { ...kind, delimiter: '' });
    expect([listed.keys, listed.of('Delimiter')]).toEqual([['a/1'], undefined]);
  });

  it('writes control characters as references, for who asks for no encoding', async () => {
    const keys = ['\u0001', '\u001f', 'a\tb', 'a\nb', 'a\rb', '&<>"\''];
    const { text, keys: found } = await list(await holding(...keys), kind);
    expect(found).toEqual(keys.toSorted());
    for (const written of ['&#x1;', '&#x1F;', 'a&#x9;b', 'a&#xA;b', 'a&#13;b', '&amp;&lt;&gt;&quot;']) {
      expect(text).toContain(`<Key>${written}`);
    }
  });

  it('encodes names if asked to', async () => {
    const bucket = await holding('a b', 'a+b', "a'!()*~-_.b", 'a/ä', 'a%b', 'z');
    const listed = await list(bucket, { ...kind, 'encoding-type': 'url', prefix: 'a' });
    expect(listed.of('EncodingType')).toBe('url');
    expect(listed.keys).toEqual(['a%20b', 'a%25b', 'a%27%21%28%29*~-_.b', 'a%2Bb', 'a/%C3%A4']);
    const rolled = await list(bucket, { ...kind, 'encoding-type': 'url', prefix: 'a ', delimiter: ' b' });
    // ListObjects has a rule of its own for its prefix.
    expect([rolled.of('Prefix'), rolled.of('Delimiter')]).toEqual([kind === v1 ? 'a ' : 'a%20', '%20b']);
    const group = await list(bucket, { ...kind, 'encoding-type': 'url', delimiter: ' ' });
    expect(group.prefixes).toEqual(['a%20']);
  });

  it.each(['URL', 'base64', 'utf-8'])('refuses the encoding %s', async (encoding) => {
    await refused(await service.bucket(), { 'encoding-type': encoding });
  });

  it('does not encode without being asked', async () => {
    const listed = await list(await holding('a b'), { ...kind, 'encoding-type': '' });
    expect([listed.keys, listed.of('EncodingType')]).toEqual([['a b'], undefined]);
  });

  it('answers 404 for no bucket', async () => {
    expectError(await service.send({ path: `/${service.freeName()}`, query: queryOf(kind) }), 404, 'NoSuchBucket');
  });

  it('ignores parameters that it does not know', async () => {
    const bucket = await holding('a');
    expect((await list(bucket, { ...kind, 'x-id': 'List', unknown: 'x', 'max-parts': 'x' })).keys).toEqual(['a']);
  });
});

describe('ListObjects', () => {
  it('says where to go on with every page that is not the last', async () => {
    const bucket = await holding('a', 'b', 'c');
    const first = await list(bucket, { 'max-keys': '2' });
    expect([first.of('IsTruncated'), first.of('NextMarker'), first.of('Marker')]).toEqual(['true', 'b', '']);
    const last = await list(bucket, { 'max-keys': '2', marker: 'b' });
    expect([last.of('IsTruncated'), last.of('NextMarker'), last.of('Marker')]).toEqual(['false', undefined, 'b']);
  });

  it('is also what another list-type means', async () => {
    const bucket = await holding('a');
    for (const type of ['1', '3', '']) {
      expect((await list(bucket, { 'list-type': type })).text).toContain('<Marker></Marker>');
    }
  });

  it('encodes markers if asked to', async () => {
    const bucket = await holding('a b', 'a c');
    const page = await list(bucket, { 'encoding-type': 'url', 'max-keys': '1', marker: 'a a' });
    expect([page.of('Marker'), page.of('NextMarker')]).toEqual(['a%20a', 'a%20b']);
  });

  it.each(['b/', 'b/1', 'b/x', 'b/zzz'])('skips the whole group that the marker %s lies in', async (marker) => {
    const bucket = await holding('a', 'b/1', 'b/2', 'c');
    const listed = await list(bucket, { delimiter: '/', marker });
    expect([listed.prefixes, listed.keys]).toEqual([[], ['c']]);
  });

  it.each(['b', 'a/zzz', 'b0'])('does not skip a group that the marker %s does not lie in', async (marker) => {
    const bucket = await holding('a', 'b/1', 'c');
    const listed = await list(bucket, { delimiter: '/', marker });
    expect(listed.prefixes).toEqual(marker === 'b0' ? [] : ['b/']);
    expect(listed.keys).toEqual(['c']);
  });

  it('skips nothing of a group without a delimiter', async () => {
    expect((await list(await holding('b/1', 'b/2'), { marker: 'b/1' })).keys).toEqual(['b/2']);
  });

  it('encodes the prefix only if XML cannot carry it', async () => {
    const bucket = await holding('a b', 'a\u0001b', 'a\uffffb');
    for (const [prefix, shown] of [
      ['a ', 'a '],
      ['a%20', 'a%20'],
      ['a\u0001', 'a%01'],
      ['a\uffff', 'a%EF%BF%BF'],
    ] as const) {
      const page = await list(bucket, { 'encoding-type': 'url', prefix });
      expect(page.of('Prefix'), prefix).toBe(shown);
    }
    const page = await list(bucket, { 'encoding-type': 'url', prefix: 'a ' });
    expect(page.keys).toEqual(['a%20b']);
  });

  it('lists owners', async () => {
    const { text } = await list(await holding('a'), {});
    expect(text).toMatch(/<Owner><ID>[^<]+<\/ID><DisplayName>[^<]+<\/DisplayName><\/Owner>/);
  });
});

describe.each([
  ['ListObjects', v1],
  ['ListObjectsV2', v2],
])('%s', (_, kind) => {
  it('refuses a delimiter together with allow-unordered, which alone changes nothing', async () => {
    const bucket = await holding('b', 'a');
    const refusal = await service.send({
      path: `/${bucket}`,
      query: queryOf({ ...kind, 'allow-unordered': 'true', delimiter: '/' }),
    });
    expectError(refusal, 400, 'InvalidArgument');
    expect((await list(bucket, { ...kind, 'allow-unordered': 'true' })).keys).toEqual(['a', 'b']);
    expect((await list(bucket, { ...kind, 'allow-unordered': 'false', delimiter: '/' })).keys).toEqual(['a', 'b']);
  });
});

describe('ListObjectsV2', () => {
  it('echoes what it was given', async () => {
    const bucket = await holding('a', 'b');
    const token = (await list(bucket, { ...v2, 'max-keys': '1' })).of('NextContinuationToken')!;
    const page = await list(bucket, { ...v2, 'continuation-token': token, 'start-after': 'x' });
    expect([page.of('ContinuationToken'), page.of('StartAfter'), page.keys]).toEqual([token, 'x', ['b']]);
    expect(page.of('NextContinuationToken')).toBeUndefined();
  });

  it('takes an empty token for none, and echoes it', async () => {
    const page = await list(await holding('a'), { ...v2, 'continuation-token': '' });
    expect([page.keys, page.of('ContinuationToken')]).toEqual([['a'], '']);
  });

  it('gives tokens that need no escapes, and that no encoding changes', async () => {
    const bucket = await holding('a b/ä+', 'b');
    for (const encoding of [{}, { 'encoding-type': 'url' }]) {
      const page = await list(bucket, { ...v2, ...encoding, 'max-keys': '1' });
      expect(page.of('NextContinuationToken')).toMatch(/^[A-Za-z0-9_-]+$/);
      const token = page.of('NextContinuationToken')!;
      expect((await list(bucket, { ...v2, ...encoding, 'continuation-token': token })).keys).toEqual(['b']);
    }
  });

  it('refuses tokens that were changed, or are of another question', async () => {
    const bucket = await holding('a/1', 'a/2', 'b');
    const token = (await list(bucket, { ...v2, 'max-keys': '1' })).of('NextContinuationToken')!;
    const spoilt = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const cut = token.slice(0, -4);
    for (const parameters of [
      { 'continuation-token': 'garbage' },
      { 'continuation-token': spoilt },
      { 'continuation-token': cut },
      { 'continuation-token': `${token}=` },
      { 'continuation-token': token, prefix: 'a' },
      { 'continuation-token': token, delimiter: '/' },
    ]) {
      const response = await service.send({ path: `/${bucket}`, query: queryOf({ ...v2, ...parameters }) });
      expectError(response, 400, 'InvalidArgument');
    }
    const elsewhere = { path: `/${await service.bucket()}`, query: queryOf({ ...v2, 'continuation-token': token }) };
    expectError(await service.send(elsewhere), 400, 'InvalidArgument');
    await list(bucket, { ...v2, 'continuation-token': token, 'max-keys': '7' });
  });

  it('encodes start-after if asked to', async () => {
    const page = await list(await holding('a'), { ...v2, 'encoding-type': 'url', 'start-after': 'a b' });
    expect(page.of('StartAfter')).toBe('a%20b');
  });

  it('skips the whole group that start-after lies in, as ListObjects does', async () => {
    const bucket = await holding('a/1', 'a/2', 'b');
    const page = await list(bucket, { ...v2, delimiter: '/', 'start-after': 'a/1' });
    expect([page.prefixes, page.keys, page.of('KeyCount')]).toEqual([[], ['b'], '1']);
  });

  it.each([
    ['true', true],
    ['false', false],
    ['', false],
  ])('with fetch-owner "%s" lists owners: %s', async (value, shown) => {
    const { text } = await list(await holding('a'), { ...v2, 'fetch-owner': value });
    expect(text.includes('<Owner>')).toBe(shown);
  });

  it('shows times with milliseconds', async () => {
    const { of } = await list(await holding('a'), v2);
    expect(of('LastModified')).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  });
});

describe('ListObjectVersions', () => {
  it('has versions and markers in the order of their keys, the newest first', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const path = `/${bucket}/a`;
    const remove = async () => (await service.send({ method: 'DELETE', path })).header('x-amz-version-id')!;
    const write = async () => (await put(service.client, bucket, 'a')).VersionId!;
    const ids = [await write(), await remove(), await write(), await remove()];
    const { text } = await list(bucket, versions);
    const rows = Array.from(
      text.matchAll(/<(Version|DeleteMarker)><Key>a<\/Key><VersionId>(.*?)</g),
      ([, kind, id]) => [kind, id],
    );
    expect(rows).toEqual([
      ['DeleteMarker', ids[3]],
      ['Version', ids[2]],
      ['DeleteMarker', ids[1]],
      ['Version', ids[0]],
    ]);
    const [marker] = /<DeleteMarker>.*?<\/DeleteMarker>/.exec(text)!;
    expect(marker.replace(/(?<=>)[^<>]+(?=<)/g, '')).toBe(
      '<DeleteMarker><Key></Key><VersionId></VersionId><IsLatest></IsLatest><LastModified></LastModified>' +
        '<Owner><ID></ID><DisplayName></DisplayName></Owner></DeleteMarker>',
    );
  });

  it('has ListVersionsResult for its root', async () => {
    const { text } = await list(await service.bucket(), versions);
    expect(text).toContain('<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">');
  });

  it('names the row that a page ends with by the id which the page shows, the null version included', async () => {
    const bucket = await service.bucket();
    for (const key of ['a', 'b']) await put(service.client, bucket, key);
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'a');
    const shown: string[] = [];
    let markers: Record<string, string> = {};
    for (let truncated = true; truncated;) {
      const page = await list(bucket, { ...versions, 'max-keys': '1', ...markers });
      const [key, id] = [textOf(page.text, 'Key')!, textOf(page.text, 'VersionId')!];
      shown.push(`${key} ${id === 'null' ? id : 'id'}`);
      truncated = page.of('IsTruncated') === 'true';
      if (truncated) expect([page.of('NextKeyMarker'), page.of('NextVersionIdMarker')]).toEqual([key, id]);
      markers = { 'key-marker': key, 'version-id-marker': id };
    }
    expect(shown).toEqual(['a id', 'a null', 'b null']);
  });

  it('refuses a version marker without a key marker', async () => {
    const query = queryOf({ ...versions, 'version-id-marker': 'x'.repeat(32) });
    expectError(await service.send({ path: `/${await service.bucket()}`, query }), 400, 'InvalidArgument');
  });

  it('encodes key markers, and no version ids', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const key of ['a b', 'a b', 'a c']) await put(service.client, bucket, key);
    const page = await list(bucket, { ...versions, 'encoding-type': 'url', 'max-keys': '1', 'key-marker': 'a a' });
    expect([page.of('KeyMarker'), page.of('NextKeyMarker')]).toEqual(['a%20a', 'a%20b']);
    expect(page.of('NextVersionIdMarker')).toBe(textOf(page.text, 'VersionId'));
  });
});
