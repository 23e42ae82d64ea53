import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openExistingData } from '../../local/server/data-directory/data-directory.ts';
import { LmdbEnvironment } from '../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import { isFollowed, itemKey } from '../../shared/storage/table/keys/keys.ts';
import { LayoutTooNew, checkLayout, claimLayout, sealedLayout } from '../../shared/storage/table/layout.ts';
import { sdk } from '../support/clients/clients.ts';
import { CountedBytes } from '../support/storage/fixed-deps.ts';
import { buildFormerRelease, programBeforeLocks, type FormerRelease } from '../support/programs/former-release.ts';
import { MemoryTable } from '../support/storage/memory-table.ts';
import { put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { runProgram } from '../support/programs/program.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { startService } from '../support/programs/server.ts';

const Bucket = 'bucket';
const MiB = 1024 * 1024;

/** The contents of objects by key and version, the same for every release. */
class Known {
  readonly #contents = new Map<string, string>();

  /**
   * Writes objects of every kind: small and large, versions, markers, copies, parts, tags.
   * @param release distinguishes the writers
   */
  async write(client: S3Client, release: string): Promise<void> {
    for (const key of ['overwritten', `${release}/small`]) {
      const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key: key, Body: `${key} of ${release}` }));
      this.#contents.set(`${key}\n${VersionId}`, `${key} of ${release}`);
    }
    const large = release.repeat(100_000);
    await client.send(new PutObjectCommand({ Bucket, Key: `${release}/large`, Body: large, Tagging: `of=${release}` }));
    this.#contents.set(`${release}/large`, large);
    const parts = { Bucket, Key: `${release}/parts` };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(parts));
    const bodies = [release.charAt(0).repeat(5 * MiB), release];
    const Parts = [];
    for (const [at, Body] of bodies.entries()) {
      const upload = { ...parts, UploadId, PartNumber: at + 1, Body };
      const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(upload));
      Parts.push({ PartNumber: at + 1, ETag, ChecksumCRC32 });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...parts, UploadId, MultipartUpload: { Parts } }));
    this.#contents.set(`${release}/parts`, bodies.join(''));
    const CopySource = `${Bucket}/${release}/parts`;
    await client.send(new CopyObjectCommand({ Bucket, Key: `${release}/copy`, CopySource }));
    this.#contents.set(`${release}/copy`, bodies.join(''));
    await put(client, Bucket, `${release}/hidden`, 'below a marker');
    await client.send(new DeleteObjectCommand({ Bucket, Key: `${release}/hidden` }));
    // An upload that is left open.
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key: `${release}/open` }));
  }

  async expectAll(client: S3Client, releases: readonly string[]): Promise<void> {
    for (const [name, content] of this.#contents) {
      const [key, versionId] = name.split('\n') as [string, string?];
      expect((await read(client, Bucket, key, versionId)) === content, name).toBe(true);
    }
    const listed = (await client.send(new ListObjectsV2Command({ Bucket }))).Contents!.map(({ Key }) => Key);
    const own = releases.flatMap((release) => ['copy', 'large', 'parts', 'small'].map((name) => `${release}/${name}`));
    expect(listed.toSorted()).toEqual([...own, 'overwritten'].toSorted());
    for (const release of releases) {
      const { TagSet } = await client.send(new GetObjectTaggingCommand({ Bucket, Key: `${release}/large` }));
      expect(TagSet).toEqual([{ Key: 'of', Value: release }]);
      const hidden = client.send(new GetObjectCommand({ Bucket, Key: `${release}/hidden` }));
      await expect(hidden).rejects.toMatchObject({ name: 'NoSuchKey' });
    }
    const versions = (await versionsOf(client, Bucket)).filter(({ key }) => key === 'overwritten');
    expect(versions).toHaveLength(releases.length);
  }
}

describe('a data directory, between the last release and this one', () => {
  let former: FormerRelease | undefined;
  let folder: string;
  beforeAll(async () => {
    former = await buildFormerRelease();
    folder = await mkdtemp(join(tmpdir(), 'stillage-upgrade-'));
  });
  afterAll(async () => {
    await former?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('is upgraded, rolled back and upgraded again, converted, and loses nothing', async (context) => {
    if (former === undefined) return context.skip('the commit of the last release is not in this clone');
    const data = join(folder, 'data');
    const known = new Known();
    const written: string[] = [];
    for (const [release, root] of [
      ['first-former', former.root],
      ['upgraded', undefined],
      ['rolled-back', former.root],
      ['upgraded-again', undefined],
    ] as const) {
      const service = await startService({ data, ...(root !== undefined && { root }) });
      const client = sdk(service);
      try {
        if (written.length === 0) {
          await client.send(new CreateBucketCommand({ Bucket }));
          await setVersioning(client, Bucket, 'Enabled');
        }
        await known.write(client, release);
        written.push(release);
        await known.expectAll(client, written);
      } finally {
        expect(await service.stop()).toBe(0);
      }
      if (release === 'first-former') {
        for (const [command, said] of [
          ['doctor', /: sound\n/],
          ['compact', /^table: .* now\n$/],
        ] as const) {
          const { code, stdout, stderr } = await runProgram([command, '--data', data]);
          expect([command, code, stdout, stderr]).toEqual([command, 0, expect.stringMatching(said), '']);
        }
      }
      await expectScrubClean(data);
    }

    expect(await sealedShare(data)).toEqual([0, expect.any(Number)]);
    const { code, stdout } = await runProgram(['compact', '--item-checksums', '--data', data]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('now')]);
    const service = await startService({ data });
    await known.write(sdk(service), 'sealed');
    await known.expectAll(sdk(service), [...written, 'sealed']);
    expect(await service.stop()).toBe(0);
    await expectScrubClean(data);
    // All but the layout itself, which earlier versions must be able to read.
    const [sealed, all] = await sealedShare(data);
    expect(sealed).toBe(all - 1);
  });

  it('gets object lock on a bucket of the last release, which the next start keeps', async (context) => {
    if (former === undefined) return context.skip('the commit of the last release is not in this clone');
    const data = join(folder, 'locked');
    const old = await startService({ data, root: former.root });
    await sdk(old).send(new CreateBucketCommand({ Bucket }));
    await setVersioning(sdk(old), Bucket, 'Enabled');
    const { VersionId } = await put(sdk(old), Bucket, 'key', 'of the last release');
    expect(await old.stop()).toBe(0);
    const first = await startService({ data });
    await enableObjectLock(sdk(first));
    const hold = { Bucket, Key: 'key', VersionId, LegalHold: { Status: 'ON' } } as const;
    await sdk(first).send(new PutObjectLegalHoldCommand(hold));
    expect(await first.stop()).toBe(0);
    expect(await layoutOf(data)).toMatchObject({ leastReader: 4, leastWriter: 4 });
    const next = await startService({ data });
    await expect(sdk(next).send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });
    expect(await read(sdk(next), Bucket, 'key', VersionId)).toBe('of the last release');
    expect(await next.stop()).toBe(0);
    await expectScrubClean(data);
  });
});

describe('a data directory with object lock', () => {
  it('is refused by a program that knows nothing of locks, from the first bucket on, and keeps them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-locks-'));
    const data = join(folder, 'data');
    const before = await programBeforeLocks();
    try {
      // Without a lock, either program may use it.
      for (const root of [undefined, before.root]) {
        const service = await startService({ data, ...(root !== undefined && { root }) });
        expect(await service.stop()).toBe(0);
      }
      const service = await startService({ data });
      await sdk(service).send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
      const lock = {
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: new Date(Date.now() + 3_600_000),
      } as const;
      const { VersionId } = await put(sdk(service), Bucket, 'key', 'content', lock);
      expect(await service.stop()).toBe(0);
      const refusal =
        'the data is in layout 4, and this version of Stillage knows layouts up to 3: run the later version that wrote it';
      await expect(startService({ data, root: before.root })).rejects.toThrow(refusal);
      const again = await startService({ data });
      expect(await read(sdk(again), Bucket, 'key', VersionId)).toBe('content');
      await expect(sdk(again).send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId }))).rejects.toMatchObject({
        name: 'AccessDenied',
      });
      expect(await again.stop()).toBe(0);
    } finally {
      await before.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function enableObjectLock(client: S3Client): Promise<unknown> {
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled' } as const;
  return client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
}

/** Returns the layout that a data directory records. */
async function layoutOf(data: string): Promise<unknown> {
  const { table } = await openExistingData(data);
  try {
    return await table.get(itemKey.deployment('layout'));
  } finally {
    await table.close();
  }
}

/** Returns how many items of a table are stored with a checksum, and how many there are. */
async function sealedShare(data: string): Promise<[number, number]> {
  const environment = await LmdbEnvironment.open(join(data, 'table'));
  const items = environment.database<Buffer, Buffer>('items', { encoding: 'binary', keyEncoding: 'binary' });
  const values = [...items.getRange({})].map(({ value }) => value.readUInt16BE());
  await environment.close();
  return [values.filter((start) => start === 0x8080).length, values.length];
}

describe('data of a later layout', () => {
  it('is not touched by a service or a command', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-layout-'));
    const data = join(folder, 'data');
    try {
      await (await startService({ data })).stop();
      const key = itemKey.deployment('layout');
      const line =
        /^stillage: --data: cannot use \S+: the data is in layout 7, and this version of Stillage knows layouts up to \d+: run the later version that wrote it\n$/;
      for (const leastReader of [1, 7]) {
        const table = await LmdbTable.open(join(data, 'table'), { isFollowed });
        if (leastReader === 1) expect(await table.get(key)).toMatchObject(sealedLayout);
        await table.write([{ key, put: { version: 8, leastReader, leastWriter: 7, r: 'later' } }]);
        await table.close();
        const writing = [['start', '--port', '0'], ['scrub'], ['customer', 'list'], ['compact']];
        for (const args of leastReader === 7 ? [...writing, ['doctor']] : writing) {
          const { code, stderr } = await runProgram([...args, '--data', data]);
          expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(line)]);
        }
        // It only reads.
        if (leastReader === 1) expect((await runProgram(['doctor', '--data', data])).code).toBe(0);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('may be read by what only reads, as long as that knows how to', async () => {
    const table = new MemoryTable();
    const randomness = new CountedBytes();
    const later = { version: 9, leastReader: 1, leastWriter: 8 };
    await claimLayout({ table, randomness });
    await claimLayout({ table, randomness }, later);
    await checkLayout(table, 'read');
    await expect(checkLayout(table, 'write')).rejects.toThrow(LayoutTooNew);
    await expect(claimLayout({ table, randomness })).rejects.toThrow(LayoutTooNew);
    // One in between neither lowers anything nor is refused.
    await claimLayout({ table, randomness }, { version: 8, leastReader: 1, leastWriter: 1 });
    expect(await table.get(itemKey.deployment('layout'))).toMatchObject(later);
  });
});
