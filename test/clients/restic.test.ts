import { CreateBucketCommand, DeleteObjectCommand, PutObjectLockConfigurationCommand } from '@aws-sdk/client-s3';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, someWays, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { versionsOf } from '../support/storage/objects.ts';
import { isInstalled, run, skip, type Outcome } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('restic', ['version']);

describe.each(someWays)('restic over $scheme, buckets in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!installed) skip(context, 'restic is not installed: apt-get install restic');
  });

  /** Returns restic on a repository of a bucket. */
  function resticOn(bucket: string): (...args: string[]) => Promise<Outcome> {
    const [url, lookup] = style === 'path' ? [endpoint.url, 'path'] : [endpoint.hostStyleUrl, 'dns'];
    const how = ['--cacert', endpoint.authority.file, '-o', `s3.bucket-lookup=${lookup}`];
    return (...args) =>
      run('restic', ['-r', `s3:${url}/${bucket}/repository`, ...how, ...args], {
        env: {
          ...endpoint.proxy.env,
          AWS_ACCESS_KEY_ID: alice.accessKeyId,
          AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
          RESTIC_PASSWORD: 'a password',
          RESTIC_CACHE_DIR: join(endpoint.folder, 'cache'),
        },
      });
  }

  it('backs up, checks, restores, forgets and prunes', async () => {
    const restic = resticOn(bucketName('restic'));
    const source = join(endpoint.folder, 'source');
    await awkwardTree(source);
    await randomFile(join(source, 'big'), (long ? 200 : 12) * MiB);

    expect((await restic('init')).stdout).toContain('created restic repository');
    await restic('backup', source);
    const before = await filesBelow(source);
    await appendFile(join(source, awkwardNames[0]!), 'more');
    await restic('backup', source);
    expect((await restic('check', '--read-data')).stdout).toContain('no errors were found');

    await restic('restore', 'latest', '--target', join(endpoint.folder, 'restored'));
    expect(await filesBelow(join(endpoint.folder, 'restored', source))).toEqual(await filesBelow(source));
    const snapshots = JSON.parse((await restic('snapshots', '--json')).stdout) as { id: string }[];
    await restic('restore', snapshots[0]!.id, '--target', join(endpoint.folder, 'first'));
    expect(await filesBelow(join(endpoint.folder, 'first', source))).toEqual(before);

    expect((await restic('forget', '--keep-last', '1', '--prune')).stdout).toContain('remove 1 snapshots');
    expect((await restic('check')).stdout).toContain('no errors were found');
  });

  // It knows nothing of locks: what it removes is hidden by markers.
  it('works where all is locked, and what it has pruned is still there', async () => {
    const Bucket = bucketName('locked');
    const client = sdkAt(endpoint);
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } } as const;
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
    await client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    const restic = resticOn(Bucket);
    const source = join(endpoint.folder, 'of-the-locked');
    await randomFile(source, MiB);
    await restic('init');
    await restic('backup', source);
    await randomFile(source, MiB);
    await restic('backup', source);
    expect((await restic('forget', '--keep-last', '1', '--prune')).stdout).toContain('remove 1 snapshots');
    expect((await restic('check', '--read-data')).stdout).toContain('no errors were found');
    const versions = await versionsOf(client, Bucket);
    const hidden = versions.filter(({ isMarker, isLatest }) => isMarker && isLatest).map(({ key }) => key);
    expect(hidden.some((key) => key.includes('/snapshots/'))).toBe(true);
    expect(hidden.some((key) => key.includes('/data/'))).toBe(true);
    for (const { key: Key, id: VersionId } of versions.filter(({ isMarker }) => !isMarker)) {
      const removal = client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
      await expect(removal).rejects.toMatchObject({ name: 'AccessDenied' });
    }
    const markers = versions.filter(({ key, isMarker }) => isMarker && !key.includes('/locks/'));
    for (const { key: Key, id: VersionId } of markers)
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    expect(JSON.parse((await restic('snapshots', '--json')).stdout)).toHaveLength(2);
    await restic('restore', 'latest', '--target', join(endpoint.folder, 'of-the-locked-restored'));
  });
});
