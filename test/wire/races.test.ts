import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { runs } from '../support/runs/runs.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { sharedStoresVariable } from '../support/programs/shared-stores.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** Concurrent requests of many clients have the same result as some sequential order. */

const service = serviceUnderTest({ alone: true });

// Before the service stops: no data is lost, and the losing requests have left nothing behind.
afterAll(async () => {
  if (service.started && !(sharedStoresVariable in process.env)) await expectScrubClean(service.started.data);
});

/** Does something many times at once, and counts how it ended: `ok`, or the code of the error. */
async function outcomes(tasks: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const result of await Promise.allSettled(tasks)) {
    const outcome = result.status === 'fulfilled' ? 'ok' : (result.reason as Error).name;
    counted[outcome] = (counted[outcome] ?? 0) + 1;
  }
  return counted;
}

const many = <Result>(count: number, task: (n: number) => Promise<Result>): Promise<Result>[] =>
  Array.from({ length: count }, (_, n) => task(n));

/** Expects that all but one request failed with one of the allowed errors. */
function expectOneWinner(counted: Record<string, number>, total: number): void {
  const { ok, PreconditionFailed = 0, ConditionalRequestConflict = 0, ...others } = counted;
  expect(others).toEqual({});
  expect(ok).toBe(1);
  expect(PreconditionFailed + ConditionalRequestConflict).toBe(total - 1);
}

const rounds = Array.from({ length: runs(5) }, (_, n) => n);

describe('If-None-Match: *', () => {
  it('lets exactly one of many uploads win', async () => {
    const bucket = await service.bucket();
    for (const round of rounds) {
      const key = `key-${round}`;
      const tasks = many(12, (n) => put(service.client, bucket, key, `content ${n}`, { IfNoneMatch: '*' }));
      const results = await Promise.allSettled(tasks);
      const winner = results.findIndex(({ status }) => status === 'fulfilled');
      expectOneWinner(await outcomes(tasks), 12);
      expect(await read(service.client, bucket, key)).toBe(`content ${winner}`);
    }
  });

  it('lets exactly one of uploads and completions win', async () => {
    const bucket = await service.bucket();
    for (const round of rounds) {
      const key = `key-${round}`;
      const uploads = await Promise.all(many(4, () => TestUpload.begin(service.client, bucket, key)));
      const parts = await Promise.all(uploads.map((upload, n) => upload.part(1, `part ${n}`)));
      const counted = await outcomes([
        ...uploads.map((upload, n) => upload.complete([parts[n]!], { IfNoneMatch: '*' })),
        ...many(4, (n) => put(service.client, bucket, key, `content ${n}`, { IfNoneMatch: '*' })),
      ]);
      expectOneWinner(counted, 8);
      expect(await versionsOf(service.client, bucket)).toHaveLength(round + 1);
    }
  });

  it('lets exactly one win in a bucket with versions, too', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const round of rounds) {
      const key = `key-${round}`;
      expectOneWinner(await outcomes(many(8, () => put(service.client, bucket, key, '', { IfNoneMatch: '*' }))), 8);
    }
    expect(await versionsOf(service.client, bucket)).toHaveLength(rounds.length);
  });
});

describe('If-Match', () => {
  it('makes a counter that loses no step', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'counter', '0');
    const increment = async (): Promise<void> => {
      for (;;) {
        const { Body, ETag } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'counter' }));
        const next = String(Number(await Body!.transformToString()) + 1);
        try {
          await put(service.client, bucket, 'counter', next, { IfMatch: ETag! });
          return;
        } catch (error) {
          expect(['PreconditionFailed', 'ConditionalRequestConflict']).toContain((error as Error).name);
        }
      }
    };
    await Promise.all(many(10, increment));
    expect(await read(service.client, bucket, 'counter')).toBe('10');
  });

  it('lets exactly one of many deletions and uploads win', async () => {
    const bucket = await service.bucket();
    for (const round of rounds) {
      const key = `key-${round}`;
      await put(service.client, bucket, key, 'old');
      const IfMatch = md5Tag('old');
      const remove = () => service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key, IfMatch }));
      const [{ ok: removed = 0 }, { ok: uploaded = 0, ...lost }] = await Promise.all([
        outcomes(many(1, remove)),
        outcomes(many(4, (n) => put(service.client, bucket, key, `${n}`, { IfMatch }))),
      ]);
      // Deleting a deleted object again succeeds; a conditional upload over it does not.
      expect(Object.keys(lost).filter((code) => !/^(PreconditionFailed|NoSuchKey|Conditional)/.test(code))).toEqual([]);
      if (removed === 1) expect(uploaded).toBe(0);
      else expect(uploaded).toBe(1);
    }
  });
});

describe('uploads of one key', () => {
  it('end with one of them, whole, and readers never see a mixture', async () => {
    const bucket = await service.bucket();
    const contents = Array.from({ length: 6 }, (_, n) => String(n).repeat(200_000));
    await put(service.client, bucket, 'key', contents[0]);
    let done = false;
    const reading = many(4, async () => {
      while (!done) expect(contents).toContain(await read(service.client, bucket, 'key'));
    });
    for (const _ of rounds) await Promise.all(contents.map((content) => put(service.client, bucket, 'key', content)));
    done = true;
    await Promise.all(reading);
    expect(await versionsOf(service.client, bucket)).toHaveLength(1);
  });

  it('become as many versions, and one is the latest', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const results = await Promise.allSettled(many(12, (n) => put(service.client, bucket, 'key', `${n}`)));
    const written = new Map<string, number>();
    for (const [n, result] of results.entries()) {
      if (result.status === 'fulfilled') written.set(result.value.VersionId!, n);
      // Some of so many may be told to retry.
      else expect(result.reason).toEqual(s3Error('SlowDown', 503));
    }
    const versions = await versionsOf(service.client, bucket);
    expect(versions.map(({ id }) => id).toSorted()).toEqual([...written.keys()].toSorted());
    expect(versions.map(({ isLatest }) => isLatest)).toEqual(versions.map((_, at) => at === 0));
    expect(await read(service.client, bucket, 'key')).toBe(String(written.get(versions[0]!.id)));
  });

  it.skipIf(isExternal)('all come to pass, however many there are at once', async () => {
    const bucket = await service.bucket();
    const send = (method: string, body?: string) =>
      service.send({ method, path: `/${bucket}/key`, ...(body !== undefined && { body }) });
    for (const versioning of [undefined, 'Enabled'] as const) {
      if (versioning !== undefined) await setVersioning(service.client, bucket, versioning);
      const answers = await Promise.all(many(90, (n) => (n % 9 === 8 ? send('DELETE') : send('PUT', `${n}`))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 204]));
    }
    // One that the bucket had before it had versions, if the last of those requests was no deletion.
    expect((await versionsOf(service.client, bucket)).filter(({ id }) => id !== 'null')).toHaveLength(90);
  });

  it('and deletions leave one chain of versions while versioning goes on and off', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    // Retries after 503.
    const client = service.sdk(service.alice, { maxAttempts: 10 });
    await Promise.all([
      ...many(10, (n) => put(client, bucket, 'key', `${n}`)),
      ...many(5, () => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }))),
      ...many(4, (n) => setVersioning(client, bucket, n % 2 === 0 ? 'Suspended' : 'Enabled')),
    ]);
    client.destroy();
    const versions = await versionsOf(service.client, bucket);
    expect(versions.filter(({ isLatest }) => isLatest)).toHaveLength(1);
    expect(versions.filter(({ id }) => id === 'null').length).toBeLessThanOrEqual(1);
    expect(new Set(versions.map(({ id }) => id)).size).toBe(versions.length);
    for (const { id, isMarker } of versions) {
      if (isMarker) continue;
      expect(await read(service.client, bucket, 'key', id)).toMatch(/^\d$/);
    }
  });
});

describe('DeleteBucket', () => {
  it('and an upload: either the object is in a bucket, or there is neither', async () => {
    for (const _ of rounds) {
      const bucket = await service.bucket();
      const [removal, ...uploads] = await Promise.allSettled([
        service.client.send(new DeleteBucketCommand({ Bucket: bucket })),
        ...many(6, (n) => put(service.client, bucket, `key-${n}`, 'content')),
      ]);
      const stored = uploads.filter(({ status }) => status === 'fulfilled').length;
      for (const upload of uploads) {
        if (upload.status === 'rejected') expect(upload.reason).toEqual(s3Error('NoSuchBucket', 404));
      }
      if (removal.status === 'fulfilled') {
        expect(stored).toBe(0);
        await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
        expect(await versionsOf(service.client, bucket)).toEqual([]);
      } else {
        expect(removal.reason).toEqual(s3Error('BucketNotEmpty', 409));
        await service.client.send(new HeadBucketCommand({ Bucket: bucket }));
        expect(await versionsOf(service.client, bucket)).toHaveLength(stored);
      }
    }
  });

  it('and a completion: either the object is in a bucket, or there is neither', async () => {
    for (const _ of rounds) {
      const bucket = await service.bucket();
      const upload = await TestUpload.begin(service.client, bucket);
      const part = await upload.part(1, 'content');
      const [removal, completion] = await Promise.allSettled([
        service.client.send(new DeleteBucketCommand({ Bucket: bucket })),
        upload.complete([part]),
      ]);
      expect([removal.status, completion.status].toSorted()).toEqual(['fulfilled', 'rejected']);
      if (removal.status === 'rejected') {
        expect(await read(service.client, bucket, 'key')).toBe('content');
      } else {
        await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
        expect(await versionsOf(service.client, bucket)).toEqual([]);
      }
    }
  });

  it('by many is done by one', async () => {
    for (const _ of rounds) {
      const bucket = await service.bucket();
      const counted = await outcomes(many(6, () => service.client.send(new DeleteBucketCommand({ Bucket: bucket }))));
      expect(counted).toEqual({ ok: 1, NoSuchBucket: 5 });
    }
  });

  it('and CreateBucket of another project: the name has one owner in the end', async () => {
    for (const _ of rounds) {
      const bucket = await service.bucket();
      const [removal, creation] = await Promise.allSettled([
        service.client.send(new DeleteBucketCommand({ Bucket: bucket })),
        service.stranger.send(new CreateBucketCommand({ Bucket: bucket })),
      ]);
      expect(removal.status).toBe('fulfilled');
      if (creation.status === 'fulfilled') {
        await service.stranger.send(new HeadBucketCommand({ Bucket: bucket }));
        await service.stranger.send(new DeleteBucketCommand({ Bucket: bucket }));
      } else {
        expect(creation.reason).toEqual(s3Error('BucketAlreadyExists', 409));
      }
      await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toBeDefined();
    }
  });
});

describe('CompleteMultipartUpload', () => {
  it('answers every one of many the same, and makes one version', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const round of rounds) {
      const upload = await TestUpload.begin(service.client, bucket, `key-${round}`);
      const parts = [await upload.part(1, 'content')];
      const completions = await Promise.all(many(6, () => upload.complete(parts)));
      expect(new Set(completions.map(({ VersionId, ETag }) => `${VersionId} ${ETag}`)).size).toBe(1);
      expect(await versionsOf(service.client, bucket)).toHaveLength(round + 1);
    }
  });

  it('and AbortMultipartUpload: one of them wins, and nothing is left of the other', async () => {
    const bucket = await service.bucket();
    for (const round of rounds) {
      const key = `key-${round}`;
      const upload = await TestUpload.begin(service.client, bucket, key);
      const parts = [await upload.part(1, 'content')];
      const [completion, abortion] = await Promise.allSettled([
        upload.complete(parts),
        service.client.send(new AbortMultipartUploadCommand(upload.target)),
      ]);
      expect([completion.status, abortion.status].toSorted()).toEqual(['fulfilled', 'rejected']);
      if (completion.status === 'fulfilled') {
        expect((abortion as PromiseRejectedResult).reason).toEqual(s3Error('NoSuchUpload', 404));
        expect(await read(service.client, bucket, key)).toBe('content');
      } else {
        expect(completion.reason).toEqual(s3Error('NoSuchUpload', 404));
        await expect(read(service.client, bucket, key)).rejects.toEqual(s3Error('NoSuchKey', 404));
      }
    }
    expect((await service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads).toBeUndefined();
  });

  it('takes a part that was uploaded anew in one of its forms', async () => {
    const bucket = await service.bucket();
    for (const round of rounds) {
      const upload = await TestUpload.begin(service.client, bucket, `key-${round}`);
      const first = await upload.part(1, 'first');
      const [completion] = await Promise.allSettled([upload.complete([first]), upload.part(1, 'second')]);
      expect(completion.status).toBe('fulfilled');
      expect(await read(service.client, bucket, `key-${round}`)).toBe('first');
    }
  });
});
