import { neverAborted } from '../../../../shared/ports/event-loop.ts';
import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { Manifests } from '../../../../shared/storage/objects/manifests.ts';
import { listUploads, type UploadListingRequest } from '../../../../shared/storage/listings/upload-listing.ts';
import { Uploads } from '../../../../shared/storage/uploads/uploads.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import type { BlobStore } from '../../../../shared/ports/blob-store.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { runs } from '../../../support/runs/runs.ts';

let table: MemoryTable;
let clock: SetClock;
let uploads: Uploads;
let bucket: Bucket;

beforeEach(async () => {
  table = new MemoryTable();
  clock = new SetClock();
  const deps = { table, clock, blobs: {} as BlobStore, randomness: new CountedBytes() };
  uploads = new Uploads({ ...deps, buckets: new Buckets(deps), manifests: new Manifests(deps) });
  const buckets = new Buckets(deps);
  await buckets.create(byOperator, 'bucket', 'project', 1);
  bucket = await buckets.load('bucket');
});

async function open(key: string): Promise<{ key: string; id: string }> {
  clock.time += 1;
  const fresh = { owner: 'project', initiator: 'project', contentType: undefined, encryption: undefined };
  const id = await uploads.create(asService(bucket, key), {
    ...fresh,
    objectAttributes: noObjectAttributes,
    checksum: undefined,
  });
  return { key, id };
}

/** Keys longer than the index keeps, and alike as far as it does. */
const long = (end: string): string => `${'k'.repeat(1000)}${end}`;

/** Every page, one after the other. */
async function walk(request: Partial<UploadListingRequest>): Promise<{ rows: string[]; prefixes: string[] }> {
  const walked = { rows: [] as string[], prefixes: [] as string[] };
  let [keyMarker, uploadIdMarker] = ['', ''];
  for (let pages = 0; pages < 100; pages += 1) {
    const all = { prefix: '', delimiter: '', limit: 1000, ...request, keyMarker, uploadIdMarker };
    const { rows, commonPrefixes, next } = await listUploads(
      { uploads, clock, signal: neverAborted },
      bucket,
      all,
      10_000,
    );
    walked.rows.push(...rows.map(({ key, id }) => `${key} ${id}`));
    walked.prefixes.push(...commonPrefixes);
    if (next === undefined) return walked;
    keyMarker = next.keyMarker;
    uploadIdMarker = next.uploadIdMarker ?? '';
  }
  throw new Error('the pages do not end');
}

describe('open uploads', () => {
  it('are listed by key and age, in pages of any size, cut keys and all', async () => {
    const keys = [
      'a',
      'a/1',
      'a/1',
      'a/2',
      'b',
      'b',
      'b',
      long('z'),
      long('a'),
      long('z'),
      long(''),
      'c/x',
      '\u{1f98a}',
      '\uff01',
    ];
    const opened = [];
    for (const key of keys) opened.push(await open(key));
    const expected = opened
      .toSorted(
        (one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) || (one.id < other.id ? -1 : 1),
      )
      .map(({ key, id }) => `${key} ${id}`);
    for (const limit of [1, 2, 3, 5, 1000]) {
      expect((await walk({ limit })).rows).toEqual(expected);
      expect((await walk({ limit, prefix: long('') })).rows).toEqual(
        expected.filter((row) => row.startsWith(long(''))),
      );
      const folded = await walk({ limit, delimiter: '/' });
      expect(folded.rows).toEqual(expected.filter((row) => !row.includes('/')));
      expect(folded.prefixes).toEqual(['a/', 'c/']);
    }
  });

  it('are listed like a sorted list, whatever their keys', async () => {
    const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ä'), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { maxLength: 30 }),
        key,
        fc.integer({ min: 1, max: 7 }),
        async (keys, prefix, limit) => {
          await uploads.abortAll(bucket.id);
          const opened = [];
          for (const one of keys) opened.push(await open(one));
          const expected = opened
            .filter((one) => one.key.startsWith(prefix))
            .toSorted(
              (one, other) =>
                Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) || (one.id < other.id ? -1 : 1),
            )
            .map((one) => `${one.key} ${one.id}`);
          expect((await walk({ prefix, limit })).rows).toEqual(expected);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('are not all read for one page of them', async () => {
    for (let at = 0; at < 3000; at += 1) await open(`key/${String(at).padStart(5, '0')}`);
    let read = 0;
    const query = table.query.bind(table);
    table.query = async (...request) => {
      const page = await query(...request);
      read += page.items.length;
      return page;
    };
    const request = { prefix: 'key/', delimiter: '', keyMarker: 'key/02000', uploadIdMarker: '', limit: 10 };
    const page = await listUploads({ uploads, clock, signal: neverAborted }, bucket, request, 10_000);
    expect(page.rows.map(({ key }) => key)).toEqual(
      Array.from({ length: 10 }, (_, at) => `key/0200${at + 1}`.replace('020010', '02010')),
    );
    expect(read).toBeLessThan(50);
  });
});
