import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { S3BlobStore } from '../../../../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { BlobsBusy } from '../../../../../shared/ports/blob-store.ts';
import { ScriptedS3, type ScriptedS3Options } from './scripted-s3.ts';

const mebibyte = 1024 * 1024;
const owner = { bucketId: 'b1', key: 'photos/ü 😀.jpg' };

/** Yields a number of chunks of 1 MiB, then optionally fails; records how many were read and whether it was closed. */
class Source implements AsyncIterable<Uint8Array> {
  given = 0;
  closed = false;
  readonly #chunks: number;
  readonly #failure: Error | undefined;

  constructor(chunks: number, failure?: Error) {
    this.#chunks = chunks;
    this.#failure = failure;
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (; this.given < this.#chunks; this.given++) yield Buffer.alloc(mebibyte, this.given);
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      this.closed = true;
    }
  }
}

function scripted(options: ScriptedS3Options = {}) {
  const s3 = new ScriptedS3(options);
  return { s3, store: new S3BlobStore({ bucket: 'blobs', client: s3.client }) };
}

describe('S3BlobStore.write', () => {
  it('stores up to 8 MiB with one request, under a checksum and with its owner', async () => {
    const { s3, store } = scripted();
    const { ref, size } = await store.write(new Source(8), owner);
    expect(size).toBe(8 * mebibyte);
    expect(ref).toMatch(/^[A-Za-z0-9_-]{30}$/);
    expect(s3.requests).toEqual(['PutObject']);
    expect(s3.metadata['bucket-id']).toBe('b1');
    expect(Buffer.from(s3.metadata['key'] ?? '', 'base64url').toString()).toBe(owner.key);
    const whole = Buffer.concat(Array.from({ length: 8 }, (_, fill) => Buffer.alloc(mebibyte, fill)));
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(whole));
    expect(s3.checksums).toEqual([sum.toString('base64')]);
  });

  it('stores nothing, too', async () => {
    const { s3, store } = scripted();
    expect(await store.write(new Source(0), owner)).toMatchObject({ size: 0 });
    expect(s3.requests).toEqual(['PutObject']);
  });

  it('stores more in parts of 8 MiB, two at once, each under a checksum', async () => {
    const { s3, store } = scripted();
    expect(await store.write(new Source(33), owner)).toMatchObject({ size: 33 * mebibyte });
    expect(s3.requests[0]).toBe('CreateMultipartUpload');
    expect(s3.requests.at(-1)).toBe('CompleteMultipartUpload');
    expect(s3.partSizes).toEqual([8, 8, 8, 8, 1].map((size) => size * mebibyte));
    expect(s3.mostInFlight).toBe(2);
    expect(s3.completed.match(/<PartNumber>\d<\/PartNumber>/g)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `<PartNumber>${n}</PartNumber>`),
    );
    expect(s3.completed.match(/<ChecksumCRC32>[^<]{8}<\/ChecksumCRC32>/g)).toHaveLength(5);
    expect(s3.metadata['bucket-id']).toBe('b1');
  });

  it.each([[503, 'SlowDown'], [500, 'InternalError'], [400, 'RequestTimeout'], 'ECONNRESET'] as const)(
    'says that the store is busy if S3 answers an upload with %s',
    async (...how) => {
      const uploadsFail = how.length === 2 ? how : how[0];
      for (const mebibytes of [1, 20]) {
        const { store } = scripted({ uploadsFail } as ScriptedS3Options);
        await expect(store.write(new Source(mebibytes), owner)).rejects.toThrow(BlobsBusy);
      }
    },
  );

  it('passes on what will not pass, such as missing rights', async () => {
    const { store } = scripted({ uploadsFail: [403, 'AccessDenied'] });
    await expect(store.write(new Source(1), owner)).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('aborts when the source fails, and passes its error on', async () => {
    const { s3, store } = scripted();
    const failure = new Error('the client went away');
    await expect(store.write(new Source(20, failure), owner)).rejects.toBe(failure);
    expect(s3.requests).toContain('UploadPart 1');
    expect(s3.requests.at(-1)).toBe('AbortMultipartUpload');
  });

  it('sends nothing when the source fails early', async () => {
    const { s3, store } = scripted();
    const failure = new Error('the client went away');
    await expect(store.write(new Source(3, failure), owner)).rejects.toBe(failure);
    expect(s3.requests).toEqual([]);
  });

  it.each([1, 3, 5])('aborts when part %i is refused, and stops reading', async (refusedPart) => {
    const { s3, store } = scripted({ refusedPart });
    const source = new Source(33);
    await expect(store.write(source, owner)).rejects.toMatchObject({ name: 'AccessDenied' });
    expect(s3.requests.at(-1)).toBe('AbortMultipartUpload');
    expect(s3.requests).not.toContain('CompleteMultipartUpload');
    expect(source.closed).toBe(true);
    // The failed part, two more on their way or filling, and the chunk that showed the last one to be full.
    expect(source.given).toBeLessThanOrEqual((refusedPart + 2) * 8 + 1);
  });

  it('passes the first error on when aborting fails as well', async () => {
    const { store } = scripted({ refusedPart: 2, refusesAbort: true });
    await expect(store.write(new Source(33), owner)).rejects.toMatchObject({ name: 'AccessDenied' });
  });
});

describe('S3BlobStore.remove', () => {
  const refs = Array.from({ length: 2500 }, (_, at) => `ref-${String(at).padStart(20, '0')}`);

  it('says which blobs S3 could not delete, and deletes all others', async () => {
    const { s3, store } = scripted({ undeletable: `blobs/${refs[1]}` });
    await expect(store.remove(refs)).rejects.toMatchObject({ name: 'BlobsNotRemoved', refs: new Set([refs[1]]) });
    expect(s3.deletions).toEqual([1000, 1000, 500]);
    expect(s3.deleted).toHaveLength(2499);
  });

  it('goes on after a request that failed as a whole', async () => {
    const { s3, store } = scripted({ failingDelete: 2 });
    const left = new Set(refs.slice(1000, 2000));
    await expect(store.remove(refs)).rejects.toMatchObject({ name: 'BlobsNotRemoved', refs: left });
    expect(s3.deleted).toHaveLength(1500);
  });
});
