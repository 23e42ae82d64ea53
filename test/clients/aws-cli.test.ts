import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, md5, MiB, randomFile } from '../support/contents.ts';
import { schemes, startEndpoint, type Endpoint } from '../support/endpoint.ts';
import { isInstalled, run, skip, type Outcome, type RunOptions } from '../support/programs.ts';
import { alice } from '../support/server.ts';

const installed = isInstalled('aws');

describe.each(schemes)('aws cli over %s', (scheme) => {
  let endpoint: Endpoint;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    folder = endpoint.folder;
    env = {
      AWS_ACCESS_KEY_ID: alice.accessKeyId,
      AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: endpoint.url,
      AWS_CA_BUNDLE: endpoint.authority.file,
      AWS_CONFIG_FILE: join(folder, 'no-such-config'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'no-such-credentials'),
    };
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!installed) skip(context, 'aws is not installed: pip install awscli (or apt-get install awscli)');
  });

  const aws = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
    run('aws', args, { ...options, env: { ...env, ...options.env } });

  describe('aws s3', () => {
    it('makes a bucket, keeps a file in it, and removes both', async () => {
      const bucket = bucketName('aws');
      const content = await randomFile(join(folder, 'small'), 1000);
      expect((await aws(['s3', 'mb', `s3://${bucket}`])).stdout).toBe(`make_bucket: ${bucket}\n`);
      await aws(['s3', 'cp', join(folder, 'small'), `s3://${bucket}/dir/small`]);
      expect((await aws(['s3', 'ls'])).stdout).toContain(bucket);
      expect((await aws(['s3', 'ls', `s3://${bucket}/`])).stdout).toMatch(/^ +PRE dir\/$/m);
      expect((await aws(['s3', 'ls', `s3://${bucket}`, '--recursive'])).stdout).toMatch(/ 1000 dir\/small$/m);
      expect((await aws(['s3', 'cp', `s3://${bucket}/dir/small`, '-'])).bytes).toEqual(content);
      expect((await aws(['s3', 'rb', `s3://${bucket}`], { codes: [1] })).stderr).toContain('(BucketNotEmpty)');
      await aws(['s3', 'rm', `s3://${bucket}/dir/small`]);
      await aws(['s3', 'rb', `s3://${bucket}`]);
      expect((await aws(['s3', 'ls'])).stdout).not.toContain(bucket);
    });

    it('copies a big file in parts, to the service, inside it, and back', async () => {
      const bucket = await newBucket();
      const content = await randomFile(join(folder, 'big'), (long ? 200 : 20) * MiB);
      await aws(['s3', 'cp', join(folder, 'big'), `s3://${bucket}/big`]);
      await aws(['s3', 'cp', `s3://${bucket}/big`, join(folder, 'big-back')]);
      expect(md5(await readFile(join(folder, 'big-back')))).toBe(md5(content));
      const head = json(await aws(['s3api', 'head-object', '--bucket', bucket, '--key', 'big']));
      expect(head['ETag']).toMatch(new RegExp(`^"[0-9a-f]{32}-${Math.ceil(content.length / (8 * MiB))}"$`));

      await aws(['s3', 'cp', `s3://${bucket}/big`, `s3://${bucket}/big-copy`]);
      expect(md5((await aws(['s3', 'cp', `s3://${bucket}/big-copy`, '-'])).bytes)).toBe(md5(content));
    });

    it('takes a stream of unknown length from standard input', async () => {
      const bucket = await newBucket();
      const content = await randomFile(join(folder, 'stream'), 9 * MiB);
      await aws(['s3', 'cp', '-', `s3://${bucket}/stream`], { input: content });
      await aws(['s3', 'cp', '-', `s3://${bucket}/empty`], { input: '' });
      expect(md5((await aws(['s3', 'cp', `s3://${bucket}/stream`, '-'])).bytes)).toBe(md5(content));
      expect((await aws(['s3', 'cp', `s3://${bucket}/empty`, '-'])).bytes).toHaveLength(0);
    });

    it('moves objects and renames them', async () => {
      const bucket = await newBucket();
      const content = await randomFile(join(folder, 'moved'), 100);
      await aws(['s3', 'mv', join(folder, 'moved'), `s3://${bucket}/one`]);
      await aws(['s3', 'mv', `s3://${bucket}/one`, `s3://${bucket}/two`]);
      expect((await aws(['s3', 'cp', `s3://${bucket}/two`, '-'])).bytes).toEqual(content);
      expect((await aws(['s3', 'ls', `s3://${bucket}/one`], { codes: [1] })).stdout).toBe('');
    });

    it('syncs folders of awkward names both ways, and deletes what is gone', async () => {
      const bucket = await newBucket();
      const [there, back] = [join(folder, 'there'), join(folder, 'back')];
      await awkwardTree(there);
      await aws(['s3', 'sync', there, `s3://${bucket}/tree`]);
      await aws(['s3', 'sync', `s3://${bucket}/tree`, back]);
      expect(await filesBelow(back)).toEqual(await filesBelow(there));
      expect((await aws(['s3', 'sync', there, `s3://${bucket}/tree`])).stdout).toBe('');

      await rm(join(there, awkwardNames[0]!));
      await writeFile(join(there, awkwardNames[1]!), 'changed, and of another length');
      const second = (await aws(['s3', 'sync', '--delete', there, `s3://${bucket}/tree`])).stdout;
      expect(second.match(/^(delete|upload):/gm)?.sort()).toEqual(['delete:', 'upload:']);
      await aws(['s3', 'sync', '--delete', `s3://${bucket}/tree`, back]);
      expect(await filesBelow(back)).toEqual(await filesBelow(there));
      await aws(['s3', 'rb', '--force', `s3://${bucket}`]);
    });

    it('finds buckets in the host name', async () => {
      const config = join(folder, 'host-style');
      await writeFile(config, '[default]\ns3 =\n  addressing_style = virtual\n');
      const hostStyle = {
        env: { ...endpoint.proxy.env, AWS_CONFIG_FILE: config, AWS_ENDPOINT_URL: endpoint.hostStyleUrl },
      };
      const bucket = bucketName('host');
      const content = await randomFile(join(folder, 'host'), 9 * MiB);
      await aws(['s3', 'mb', `s3://${bucket}`], hostStyle);
      await aws(['s3', 'cp', join(folder, 'host'), `s3://${bucket}/a b`], hostStyle);
      expect((await aws(['s3', 'ls', `s3://${bucket}`], hostStyle)).stdout).toMatch(/ 9437184 a b$/m);
      expect(md5((await aws(['s3', 'cp', `s3://${bucket}/a b`, '-'], hostStyle)).bytes)).toBe(md5(content));
      await aws(['s3', 'rb', '--force', `s3://${bucket}`], hostStyle);
    });
  });

  describe('aws s3api', () => {
    it('creates, finds, lists and deletes buckets', async () => {
      const bucket = bucketName('api');
      expect(await api('create-bucket', bucket)).toMatchObject({ Location: `/${bucket}` });
      expect(await api('head-bucket', bucket)).toMatchObject({ BucketRegion: 'us-east-1' });
      expect(await api('get-bucket-location', bucket)).toEqual({ LocationConstraint: null });
      expect(json(await aws(['s3api', 'list-buckets']))['Buckets']).toContainEqual(
        expect.objectContaining({ Name: bucket }),
      );
      await api('delete-bucket', bucket);
      expect(await refused('head-bucket', bucket)).toContain('(404) when calling the HeadBucket operation: Not Found');
      expect(await refused('list-objects-v2', bucket)).toContain('(NoSuchBucket)');
    });

    it('puts, heads, gets and deletes an object, with its metadata', async () => {
      const bucket = await newBucket();
      const content = await randomFile(join(folder, 'object'), 5000);
      const described = [
        '--content-type',
        'text/x-test',
        '--metadata',
        'colour=blue,empty=',
        '--cache-control',
        'no-cache',
      ];
      const put = await api('put-object', bucket, 'k', '--body', join(folder, 'object'), ...described);
      expect(put).toMatchObject({ ETag: `"${md5(content)}"` });

      const attributes = {
        ETag: `"${md5(content)}"`,
        ContentLength: 5000,
        ContentType: 'text/x-test',
        CacheControl: 'no-cache',
        Metadata: { colour: 'blue', empty: '' },
        LastModified: expect.any(String) as string,
      };
      expect(await api('head-object', bucket, 'k')).toMatchObject(attributes);
      expect(await api('get-object', bucket, 'k', join(folder, 'out'))).toMatchObject(attributes);
      expect(await readFile(join(folder, 'out'))).toEqual(content);
      const range = await api('get-object', bucket, 'k', '--range', 'bytes=-10', join(folder, 'out'));
      expect(range).toMatchObject({ ContentRange: 'bytes 4990-4999/5000', ContentLength: 10 });
      expect(await readFile(join(folder, 'out'))).toEqual(content.subarray(4990));

      await api('delete-object', bucket, 'k');
      expect(await refused('head-object', bucket, 'k')).toContain(
        '(404) when calling the HeadObject operation: Not Found',
      );
      expect(await refused('get-object', bucket, 'k', join(folder, 'out'))).toContain('(NoSuchKey)');
    });

    it('puts only where nothing is, and only over what it has seen', async () => {
      const bucket = await newBucket();
      const { ETag: first } = await api('put-object', bucket, 'lock', '--if-none-match', '*');
      expect(await refused('put-object', bucket, 'lock', '--if-none-match', '*')).toContain('(PreconditionFailed)');
      const { ETag: second } = await api(
        'put-object',
        bucket,
        'lock',
        '--body',
        '/dev/null',
        '--if-match',
        String(first),
      );
      expect(second).toBe(first);
      expect(await refused('put-object', bucket, 'lock', '--if-match', '"0"')).toContain('(PreconditionFailed)');
      expect(await refused('get-object', bucket, 'lock', '--if-none-match', String(first), '/dev/null')).toContain(
        '(304)',
      );
    });

    it('lists in pages, and by prefix and delimiter', async () => {
      const bucket = await newBucket();
      const tree = join(folder, 'listed');
      const names = ['a/1', 'a/2 +', 'b/3', 'c', 'ü'];
      await Promise.all(names.map((name) => randomFile(join(tree, name), 10)));
      await aws(['s3', 'cp', '--recursive', tree, `s3://${bucket}`]);

      const keys = (list: Record<string, unknown>): unknown[] =>
        (list['Contents'] as { Key: string }[]).map((object) => object.Key);
      expect(keys(await api('list-objects-v2', bucket, undefined, '--page-size', '2'))).toEqual(names);
      expect(keys(await api('list-objects', bucket, undefined, '--page-size', '2'))).toEqual(names);
      const first = await api('list-objects-v2', bucket, undefined, '--max-items', '3');
      expect(keys(first)).toEqual(names.slice(0, 3));
      const rest = await api('list-objects-v2', bucket, undefined, '--starting-token', String(first['NextToken']));
      expect(keys(rest)).toEqual(names.slice(3));
      const level = await api('list-objects-v2', bucket, undefined, '--delimiter', '/', '--page-size', '1');
      expect(level['CommonPrefixes']).toEqual([{ Prefix: 'a/' }, { Prefix: 'b/' }]);
      expect(keys(level)).toEqual(['c', 'ü']);
    });

    it('keeps versions', async () => {
      const bucket = await newBucket();
      expect(await api('get-bucket-versioning', bucket)).toEqual({});
      await api('put-bucket-versioning', bucket, undefined, '--versioning-configuration', 'Status=Enabled');
      expect(await api('get-bucket-versioning', bucket)).toEqual({ Status: 'Enabled' });
      const content = await randomFile(join(folder, 'version'), 50);
      const { VersionId: first } = await api('put-object', bucket, 'k', '--body', join(folder, 'version'));
      const { VersionId: second } = await api('put-object', bucket, 'k');
      const deleted = await api('delete-object', bucket, 'k');
      expect(deleted).toMatchObject({ DeleteMarker: true });

      await api('get-object', bucket, 'k', '--version-id', String(first), join(folder, 'out'));
      expect(await readFile(join(folder, 'out'))).toEqual(content);
      const listed = await api('list-object-versions', bucket, undefined, '--page-size', '1');
      const ids = (list: unknown): unknown[] => (list as { VersionId: string }[]).map((version) => version.VersionId);
      expect(ids(listed['Versions'])).toEqual([second, first]);
      expect(ids(listed['DeleteMarkers'])).toEqual([deleted['VersionId']]);
      await api('delete-object', bucket, 'k', '--version-id', String(deleted['VersionId']));
      expect(await api('head-object', bucket, 'k')).toMatchObject({ VersionId: second, ContentLength: 0 });
    });

    it('uploads in parts by hand', async () => {
      const bucket = await newBucket();
      const parts = [await randomFile(join(folder, 'part-1'), 5 * MiB), await randomFile(join(folder, 'part-2'), 7)];
      const { UploadId } = await api('create-multipart-upload', bucket, 'k', '--content-type', 'text/x-parts');
      const upload = ['--upload-id', String(UploadId)];
      const etags: string[] = [];
      for (const [index, part] of parts.entries()) {
        const number = ['--part-number', String(index + 1), '--body', join(folder, `part-${index + 1}`)];
        const { ETag } = await api('upload-part', bucket, 'k', ...upload, ...number);
        expect(ETag).toBe(`"${md5(part)}"`);
        etags.push(String(ETag));
      }
      const uploads = (await api('list-multipart-uploads', bucket))['Uploads'];
      expect(uploads).toMatchObject([{ Key: 'k', UploadId }]);
      const listed = (await api('list-parts', bucket, 'k', ...upload))['Parts'];
      expect(listed).toMatchObject(parts.map((part, index) => ({ PartNumber: index + 1, Size: part.length })));
      const Parts = etags.map((ETag, index) => ({ PartNumber: index + 1, ETag }));
      const completion = ['--multipart-upload', JSON.stringify({ Parts })];
      const { ETag } = await api('complete-multipart-upload', bucket, 'k', ...upload, ...completion);
      const sums = Buffer.concat(parts.map((part) => Buffer.from(md5(part), 'hex')));
      expect(ETag).toBe(`"${md5(sums)}-2"`);
      expect(await api('head-object', bucket, 'k', '--part-number', '2')).toMatchObject({
        ContentLength: 7,
        PartsCount: 2,
      });

      const { UploadId: dropped } = await api('create-multipart-upload', bucket, 'k');
      await api('abort-multipart-upload', bucket, 'k', '--upload-id', String(dropped));
      expect(await api('list-multipart-uploads', bucket)).not.toHaveProperty('Uploads');
    });

    it('deletes many objects at once', async () => {
      const bucket = await newBucket();
      await api('put-object', bucket, 'a & b');
      const Objects = ['a & b', 'never-was'].map((Key) => ({ Key }));
      const answer = await api('delete-objects', bucket, undefined, '--delete', JSON.stringify({ Objects }));
      expect(answer['Deleted']).toEqual(expect.arrayContaining(Objects));
      expect(await api('list-objects-v2', bucket)).not.toHaveProperty('Contents');
    });
  });

  async function newBucket(): Promise<string> {
    const bucket = bucketName('aws');
    await aws(['s3api', 'create-bucket', '--bucket', bucket]);
    return bucket;
  }

  /** A command of `aws s3api` that is to succeed, and its answer. */
  async function api(
    command: string,
    bucket: string,
    key?: string,
    ...rest: string[]
  ): Promise<Record<string, unknown>> {
    return json(
      await aws(['s3api', command, '--bucket', bucket, ...(key === undefined ? [] : ['--key', key]), ...rest]),
    );
  }

  /** What it says of a command that is to fail. */
  async function refused(command: string, bucket: string, key?: string, ...rest: string[]): Promise<string> {
    const args = ['s3api', command, '--bucket', bucket, ...(key === undefined ? [] : ['--key', key]), ...rest];
    return (await aws(args, { codes: [254, 255] })).stderr;
  }
});

function json({ stdout }: Outcome): Record<string, unknown> {
  return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>);
}
