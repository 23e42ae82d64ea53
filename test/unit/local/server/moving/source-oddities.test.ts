import { beforeEach, describe, expect, it } from 'vitest';
import { ByteRate } from '../../../../../local/server/moving/byte-rate.ts';
import { copyBucket } from '../../../../../local/server/moving/copy-bucket.ts';
import { Ledger } from '../../../../../local/server/moving/ledger.ts';
import { LocalDestination } from '../../../../../local/server/moving/local-destination.ts';
import { localEndpoint } from '../../../../../local/server/moving/local-endpoint.ts';
import { hasLock } from '../../../../../local/server/moving/settings.ts';
import { sourceKeys, wholeOf } from '../../../../../local/server/moving/source-listing.ts';
import { tag } from '../../../../../shared/documents/text.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import { RequestRefused, type S3Endpoint, type S3Request } from '../../../../../shared/ports/s3-endpoint.ts';
import { textOf } from '../../../../support/clients/expect-error.ts';
import { person, PipelineInProcess } from '../../../../support/storage/pipeline-in-process.ts';

const owner = person('owner');
const clock = { now: Date.now, sleep: async (): Promise<void> => undefined };
const versioning = Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');

let here: PipelineInProcess;
let copies: S3Endpoint;
let origin: S3Endpoint;
beforeEach(async () => {
  const limits = { minimumPartBytes: 1 };
  const there = new PipelineInProcess([owner], { limits });
  here = new PipelineInProcess([owner], { limits });
  [copies, origin] = [here, there].map(({ services }) =>
    localEndpoint(services, owner.project, new CryptoRandomness()),
  ) as [S3Endpoint, S3Endpoint];
  for (const one of [copies, origin]) {
    for (const bucket of ['versions', 'plain']) await one.send({ method: 'PUT', bucket });
    await one.send({ method: 'PUT', bucket: 'versions', query: { versioning: '' }, body: versioning });
  }
});

const put = (key: string, text: string, fields: S3Request['fields'] = {}, bucket = 'versions') =>
  origin.send({ method: 'PUT', bucket, key, body: Buffer.from(text), fields });

/** Copies a bucket from a source. */
async function copied(source: S3Endpoint, bucket = 'versions'): Promise<Ledger> {
  const ledger = new Ledger(
    () => undefined,
    () => undefined,
  );
  const to = new LocalDestination({
    ...{ endpoint: source, services: here.services, from: bucket, acls: true },
    ...{ to: await here.services.buckets.load(bucket), rate: new ByteRate(Infinity, clock) },
  });
  const listed = { endpoint: source, bucket, prefix: '', isVersioned: bucket === 'versions' };
  await copyBucket({ listed, to, ledger, removes: false, isTrial: false });
  return ledger;
}

/** What a bucket holds. */
async function rows(endpoint: S3Endpoint, bucket = 'versions'): Promise<unknown> {
  const found: unknown[] = [];
  for await (const { key, versions } of sourceKeys({ endpoint, bucket, prefix: '', isVersioned: true })) {
    found.push([key, versions.map(({ marker, size, etag, lastModified }) => [marker, size, etag, lastModified])]);
  }
  return found;
}

/** A source that does otherwise with some requests. */
const odd = (send: (request: S3Request) => ReturnType<S3Endpoint['send']> | undefined): S3Endpoint => ({
  name: 'odd',
  send: async (request) => send(request) ?? origin.send(request),
  buckets: () => origin.buckets(),
});

/** A source that answers some requests with another text. */
const rewriting = (rewritten: (request: S3Request, text: string) => string): S3Endpoint =>
  odd(async (request) => {
    const { fields, bytes } = await origin.send(request);
    if (request.method !== 'GET') return { fields, bytes };
    const text = rewritten(request, (await wholeOf(bytes, 2 ** 20)).toString('latin1'));
    return { fields, bytes: asBytes(text) };
  });

async function* asBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'latin1');
}

const isListing = ({ key, query = {} }: S3Request): boolean =>
  key === undefined && ('versions' in query || 'list-type' in query);
const isRead = ({ method, key, query = {} }: S3Request, wanted: string): boolean =>
  method === 'GET' && key === wanted && !('acl' in query) && !('tagging' in query);

const entry = /<(Version|DeleteMarker|Contents)>[\s\S]*?<\/\1>/g;

describe('an import from a source', () => {
  it.each(['versions', 'plain'])(
    'whose pages repeat the end of the one before has everything once (%s)',
    async (bucket) => {
      for (const key of ['a', 'b', 'c']) {
        for (const text of ['1', '22', '333', '4444']) await put(key, text, {}, bucket);
        if (bucket === 'versions') await origin.send({ method: 'DELETE', bucket, key });
      }
      let before = '';
      const repeating = odd(async (request) => {
        if (!isListing(request)) return origin.send(request);
        const { fields, bytes } = await origin.send({ ...request, query: { ...request.query, 'max-keys': '2' } });
        const page = (await wholeOf(bytes, 2 ** 20)).toString();
        const entries = page.match(entry) ?? [];
        const shown = page.replace(entries[0]!, before + entries[0]!);
        // Markers are listed after the versions of a page.
        const keyOf = (text: string): string => textOf(text, 'Key')!;
        before = entries.toSorted((a, b) => Number(keyOf(a) > keyOf(b)) - Number(keyOf(a) < keyOf(b))).at(-1)!;
        return { fields, bytes: asBytes(shown) };
      });
      expect(await copied(repeating, bucket)).toMatchObject(
        bucket === 'versions' ? { versions: 12, markers: 3, examples: [] } : { versions: 3, examples: [] },
      );
      expect(await rows(copies, bucket)).toEqual(await rows(origin, bucket));
    },
  );

  it('ends at one that lists the versions of a key in a circle', async () => {
    let pages = 0;
    const circling = odd(async () => {
      pages += 1;
      if (pages > 50) throw new Error('it goes on');
      const row = tag('Key', 'a') + tag('VersionId', `v${pages}`) + tag('LastModified', '2026-01-01T00:00:00Z');
      const marks = tag('NextKeyMarker', 'a') + tag('NextVersionIdMarker', `v${pages % 2}`);
      const text = tag('ListVersionsResult', tag('IsTruncated', 'true') + marks + tag('DeleteMarker', row));
      return { fields: {}, bytes: asBytes(text) };
    });
    await expect(copied(circling)).rejects.toThrow(/^odd lists versions wrongly: "a page that comes again"$/);
  });

  it('keeps the order of versions whose times have no milliseconds', async () => {
    for (const text of ['1', '22', '333', '4444']) await put('a', text);
    const coarse = rewriting((request, text) =>
      isListing(request) ? text.replaceAll(/(<LastModified>[^<]*?:)\d\d\.\d{3}Z/g, '$100Z') : text,
    );
    expect(await copied(coarse)).toMatchObject({ versions: 4, examples: [] });
    const sizes = async (endpoint: S3Endpoint): Promise<unknown> => {
      const [[, versions]] = (await rows(endpoint)) as [[string, [boolean, number][]]];
      return versions.map(([, size]) => size);
    };
    expect(await sizes(copies)).toEqual(await sizes(origin));
    expect(await copied(coarse)).toMatchObject({ versions: 0, same: 4, examples: [] });
  });

  it.each(['object', 'tagging', 'acl'])(
    'ends when its credentials expire (%s), and takes that for nothing else',
    async (what) => {
      for (const text of ['1', '2']) await put('a', text, { 'x-amz-tagging': 'k=v', 'x-amz-acl': 'public-read' });
      const expired = odd((request) => {
        const isAsked = what === 'object' ? isRead(request, 'a') : what in (request.query ?? {});
        if (!isAsked) return undefined;
        // As AWS answers: with the status of a bad request, as for an object whose owner has the key.
        throw new RequestRefused(400, 'ExpiredToken', 'The provided token has expired.');
      });
      await expect(copied(expired)).rejects.toThrow(/^the credentials are refused: ExpiredToken: The provided/);
      expect(await rows(copies)).toEqual([]);
      expect(await copied(origin)).toMatchObject({ versions: 2, examples: [] });
    },
  );

  it('copies an object in parts whose sizes a busy source does not tell once it does', async () => {
    const of = { bucket: 'versions', key: 'parts' };
    const { bytes } = await origin.send({ ...of, method: 'POST', query: { uploads: '' } });
    const uploadId = textOf((await wholeOf(bytes, 2 ** 16)).toString(), 'UploadId')!;
    const parts: string[] = [];
    for (const [at, text] of ['first', 'se', 'third'].entries()) {
      const query = { uploadId, partNumber: String(at + 1) };
      const { fields } = await origin.send({ ...of, method: 'PUT', query, body: Buffer.from(text) });
      parts.push(tag('Part', tag('PartNumber', query.partNumber) + tag('ETag', fields['etag']!)));
    }
    const body = Buffer.from(tag('CompleteMultipartUpload', parts.join('')));
    await wholeOf((await origin.send({ ...of, method: 'POST', query: { uploadId }, body })).bytes, 2 ** 16);
    const busy = odd((request) => {
      if (request.query?.['partNumber'] === undefined) return undefined;
      throw new RequestRefused(503, 'SlowDown', 'later');
    });
    expect(await copied(busy)).toMatchObject({ versions: 0, differences: { missing: 1, changed: 0 } });
    expect(await copied(origin)).toMatchObject({ versions: 1, examples: [] });
  });

  it('reports every version that waits for an older one, and copies the other keys', async () => {
    for (const key of ['a', 'b']) for (const text of ['1', '22', '333']) await put(key, text);
    let isFirst = true;
    const denying = odd((request) => {
      if (!isRead(request, 'a') || !isFirst) return undefined;
      isFirst = false;
      throw new RequestRefused(403, 'AccessDenied', 'Access Denied');
    });
    expect(await copied(denying)).toMatchObject({
      versions: 3,
      differences: { missing: 3 },
      examples: [
        { key: 'a', what: 'not copied: AccessDenied: Access Denied' },
        { key: 'a', what: 'not copied, as an older version was not' },
        { key: 'a', what: 'not copied, as an older version was not' },
      ],
    });
    expect(await copied(origin)).toMatchObject({ versions: 3, same: 3, examples: [] });
  });

  it('tells what a copy lacks once, however often it was tried, and nothing of what is not copied', async () => {
    await put('a', 'text');
    let failures = 2;
    const cutting = odd(async (request) => {
      const { fields, bytes } = await origin.send(request);
      if (!isRead(request, 'a')) return { fields, bytes };
      failures -= 1;
      const isCut = failures >= 0;
      return { fields: { ...fields, 'x-amz-storage-class': 'COLD' }, bytes: isCut ? asBytes('te') : bytes };
    });
    const lack = { kind: 'changed', what: 'its storage class "COLD" is not known here: it is STANDARD' };
    expect(await copied(cutting)).toMatchObject({ versions: 1, examples: [lack] });
    await put('b', 'text');
    const always = odd(async (request) => {
      const { fields, bytes } = await origin.send(request);
      const shown = { fields: { ...fields, 'x-amz-storage-class': 'COLD' }, bytes: asBytes('te') };
      return isRead(request, 'b') ? shown : { fields, bytes };
    });
    expect(await copied(always)).toMatchObject({ versions: 0, differences: { missing: 1, changed: 0 } });
  });

  it('reports an object whose ACL makes no sense, and copies the rest', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, key);
    const garbled = rewriting((request, text) => ('acl' in (request.query ?? {}) && request.key === 'b' ? '<a' : text));
    expect(await copied(garbled)).toMatchObject({ versions: 2, examples: [{ kind: 'missing', key: 'b' }] });
  });

  it('that is too busy to tell whether a bucket has object lock ends, as the bucket would be made without', async () => {
    const busy = odd(() => {
      throw new RequestRefused(503, 'SlowDown', 'later');
    });
    await expect(hasLock({ endpoint: busy, bucket: 'versions' })).rejects.toThrow(
      /object lock of versions of odd: SlowDown/,
    );
  });
});
