import { HeadObjectCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, send, someWays, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { isInstalled, run, skip, type Outcome, type RunOptions } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('rclone', ['version']);

describe.each(someWays)('rclone over $scheme, buckets in the $style', ({ scheme, style }) => {
  // `Other` lists with version 1 and has buckets in the path, `AWS` lists with version 2 and has them in the host name.
  const provider = style === 'path' ? 'Other' : 'AWS';
  let endpoint: Endpoint;
  let folder: string;
  let env: Record<string, string>;
  let bucket: string;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    folder = endpoint.folder;
    env = {
      ...endpoint.proxy.env,
      RCLONE_CONFIG: join(folder, 'rclone.conf'),
      RCLONE_CA_CERT: endpoint.authority.file,
      RCLONE_CONFIG_S_TYPE: 's3',
      RCLONE_CONFIG_S_PROVIDER: provider,
      RCLONE_CONFIG_S_ENDPOINT: provider === 'AWS' ? endpoint.hostStyleUrl : endpoint.url,
      RCLONE_CONFIG_S_REGION: 'us-east-1',
      RCLONE_CONFIG_S_ACCESS_KEY_ID: alice.accessKeyId,
      RCLONE_CONFIG_S_SECRET_ACCESS_KEY: alice.secretAccessKey,
    };
    await writeFile(join(folder, 'rclone.conf'), '');
  });
  afterAll(() => endpoint.stop());
  beforeEach(async (context) => {
    if (!installed) return skip(context, 'rclone is not installed: apt-get install rclone');
    bucket = `s:${bucketName('rclone')}`;
    await rclone(['mkdir', bucket]);
  });

  const rclone = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
    run('rclone', args, { ...options, env: { ...env, ...options.env } });

  it('syncs folders of awkward names both ways, with their times', async () => {
    const [there, back] = [join(folder, `there-${provider}`), join(folder, `back-${provider}`)];
    await awkwardTree(there);
    await rclone(['sync', there, `${bucket}/tree`]);
    await rclone(['check', '--download', there, `${bucket}/tree`]);
    expect((await rclone(['lsf', '-R', '--files-only', `${bucket}/tree`])).stdout.split('\n').sort()).toEqual(
      ['', ...awkwardNames].sort(),
    );
    const unchanged = await rclone(['sync', '--verbose', there, `${bucket}/tree`]);
    expect(unchanged.stderr).toContain('There was nothing to transfer');

    await rm(join(there, awkwardNames[0]!));
    await appendFile(join(there, awkwardNames[1]!), 'more');
    await rclone(['sync', there, `${bucket}/tree`]);
    await rclone(['sync', `${bucket}/tree`, back]);
    expect(await filesBelow(back)).toEqual(await filesBelow(there));
    expect((await rclone(['check', there, `${bucket}/tree`])).stderr).toContain('0 differences found');
    await rclone(['purge', bucket]);
    expect((await rclone(['lsd', 's:'])).stdout).not.toContain(bucket.slice(2));
  });

  it('copies a big file in parts and keeps its MD5', async () => {
    const file = join(folder, 'big');
    const content = await randomFile(file, (long ? 100 : 16) * MiB);
    await rclone(['copyto', '--s3-upload-cutoff', '6M', '--s3-chunk-size', '5M', file, `${bucket}/big`]);
    const head = await sdkAt(endpoint).send(new HeadObjectCommand({ Bucket: bucket.slice(2), Key: 'big' }));
    expect(head.ETag).toMatch(new RegExp(`-${Math.ceil(content.length / (5 * MiB))}"$`));
    expect(head.Metadata).toMatchObject({
      md5chksum: Buffer.from(md5(content), 'hex').toString('base64'),
      mtime: expect.any(String) as string,
    });
    expect((await rclone(['md5sum', `${bucket}/big`])).stdout).toMatch(new RegExp(`^${md5(content)} `));
    await rclone(['copyto', '--multi-thread-cutoff', '5M', `${bucket}/big`, join(folder, 'back')]);
    expect((await rclone(['md5sum', join(folder, 'back')])).stdout).toMatch(new RegExp(`^${md5(content)} `));
  });

  it('streams what it does not know the length of', async () => {
    const content = await randomFile(join(folder, 'stream'), 7 * MiB);
    await rclone(['rcat', `${bucket}/stream`], { input: content });
    expect(md5((await rclone(['cat', `${bucket}/stream`])).bytes)).toBe(md5(content));
    expect((await rclone(['cat', '--offset', '100', '--count', '10', `${bucket}/stream`])).bytes).toEqual(
      content.subarray(100, 110),
    );
  });

  it('copies, renames and dates objects inside the service', async () => {
    await rclone(['rcat', `${bucket}/one`], { input: 'one' });
    await rclone(['copyto', `${bucket}/one`, `${bucket}/ü/two`]);
    await rclone(['moveto', `${bucket}/one`, `${bucket}/three`]);
    await rclone(['touch', '--timestamp', '2001-02-03T04:05:06', `${bucket}/three`]);
    expect((await rclone(['lsf', '-R', '--files-only', '--format', 'tp', `${bucket}`])).stdout).toContain(
      '2001-02-03 04:05:06;three',
    );
    expect((await rclone(['cat', `${bucket}/ü/two`])).stdout).toBe('one');
    expect((await rclone(['cat', `${bucket}/three`])).stdout).toBe('one');
    expect((await rclone(['lsf', bucket])).stdout).not.toContain('one');
  });

  it('copies a big object in parts inside the service', async () => {
    const content = await randomFile(join(folder, 'inside'), 12 * MiB);
    await rclone(['copyto', join(folder, 'inside'), `${bucket}/one`]);
    await rclone(['copyto', '--s3-copy-cutoff', '5M', `${bucket}/one`, `${bucket}/two`]);
    expect(md5((await rclone(['cat', `${bucket}/two`])).bytes)).toBe(md5(content));
  });

  it('lists versions and reads the old ones', async () => {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    const Bucket = bucket.slice(2);
    await sdkAt(endpoint).send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    await rclone(['rcat', `${bucket}/file.txt`], { input: 'first' });
    await rclone(['rcat', `${bucket}/file.txt`], { input: 'second' });
    const names = (await rclone(['lsf', '--s3-versions', bucket])).stdout.trim().split('\n').sort();
    expect(names).toEqual([expect.stringMatching(/^file-v\d{4}-\d\d-\d\d-\d{6}-\d{3}\.txt$/), 'file.txt']);
    expect((await rclone(['cat', '--s3-versions', `${bucket}/${names[0]!}`])).stdout).toBe('first');
    await rclone(['deletefile', `${bucket}/file.txt`]);
    expect((await rclone(['lsf', bucket])).stdout).toBe('');
    expect((await rclone(['lsf', '--s3-versions', bucket])).stdout.trim().split('\n')).toHaveLength(2);
  });

  it('shares an object by a link', async () => {
    await rclone(['rcat', `${bucket}/shared file`], { input: 'shared' });
    const link = (await rclone(['link', '--expire', '1m', `${bucket}/shared file`])).stdout.trim();
    expect(await send(endpoint, link)).toMatchObject({ status: 200, text: 'shared' });
  });
});
