import { PutObjectCommand } from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aws, awsInstalled, awsEnvironment, howToInstallAws } from '../support/clients/aws-cli.ts';
import { bucketName } from '../support/clients/clients.ts';
import { long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { schemes, sdkAt, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { skip, type Outcome } from '../support/programs/programs.ts';

// Each command takes half a second of Python. `aws s3` covers the differences between HTTP and HTTPS.
describe.each(long ? schemes : (['https'] as const))('aws s3api over %s', (scheme) => {
  let endpoint: Endpoint;
  let folder: string;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    folder = endpoint.folder;
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
  });

  it('creates, finds, lists and deletes buckets', async () => {
    const bucket = bucketName('api');
    expect(await api('create-bucket', bucket)).toMatchObject({ Location: `/${bucket}` });
    expect(await api('head-bucket', bucket)).toMatchObject({ BucketRegion: 'us-east-1' });
    expect(await api('get-bucket-location', bucket)).toEqual({ LocationConstraint: null });
    expect(json(await s3api([0], 'list-buckets'))['Buckets']).toContainEqual(expect.objectContaining({ Name: bucket }));
    await api('delete-bucket', bucket);
    expect(await refused('head-bucket', bucket)).toContain('(404) when calling the HeadBucket operation: Not Found');
    expect(await refused('list-objects-v2', bucket)).toContain('(NoSuchBucket)');
  });

  it('puts, heads, gets and deletes an object, with its metadata', async () => {
    const bucket = await endpoint.newBucket();
    const content = await randomFile(join(folder, 'object'), 5000);
    const described = ['--content-type', 'text/x-test', '--metadata', 'colour=blue,empty='];
    const put = await api('put-object', bucket, 'k', '--body', join(folder, 'object'), ...described);
    expect(put).toMatchObject({ ETag: `"${md5(content)}"` });

    const attributes = {
      ETag: `"${md5(content)}"`,
      ContentLength: 5000,
      ContentType: 'text/x-test',
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
    const bucket = await endpoint.newBucket();
    const { ETag: first } = await api('put-object', bucket, 'lock', '--if-none-match', '*');
    expect(await refused('put-object', bucket, 'lock', '--if-none-match', '*')).toContain('(PreconditionFailed)');
    expect(await api('put-object', bucket, 'lock', '--if-match', String(first))).toHaveProperty('ETag', first);
    expect(await refused('put-object', bucket, 'lock', '--if-match', '"0"')).toContain('(PreconditionFailed)');
    expect(await refused('get-object', bucket, 'lock', '--if-none-match', String(first), '/dev/null')).toContain(
      '(304)',
    );
  });

  it('lists in pages, and by prefix and delimiter', async () => {
    const bucket = await endpoint.newBucket();
    const names = ['a/1', 'a/2 +', 'b/3', 'c', 'ü'];
    await Promise.all(
      names.map((Key) => sdkAt(endpoint).send(new PutObjectCommand({ Bucket: bucket, Key, Body: Key }))),
    );

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
    const bucket = await endpoint.newBucket();
    await api('put-bucket-versioning', bucket, undefined, '--versioning-configuration', 'Status=Enabled');
    expect(await api('get-bucket-versioning', bucket)).toEqual({ Status: 'Enabled', MFADelete: 'Disabled' });
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
    const bucket = await endpoint.newBucket();
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
    const bucket = await endpoint.newBucket();
    await api('put-object', bucket, 'a & b');
    const Objects = ['a & b', 'never-was'].map((Key) => ({ Key }));
    const answer = await api('delete-objects', bucket, undefined, '--delete', JSON.stringify({ Objects }));
    expect(answer['Deleted']).toEqual(expect.arrayContaining(Objects));
    expect(await api('list-objects-v2', bucket)).not.toHaveProperty('Contents');
  });

  const s3api = (codes: readonly number[], command: string, ...args: readonly string[]): Promise<Outcome> =>
    aws(['s3api', command, ...args], { codes, env: awsEnvironment(endpoint) });

  /** A command that is to succeed, and its answer. */
  async function api(
    command: string,
    bucket: string,
    key?: string,
    ...rest: string[]
  ): Promise<Record<string, unknown>> {
    return json(await s3api([0], command, '--bucket', bucket, ...(key === undefined ? [] : ['--key', key]), ...rest));
  }

  /** Returns the error output of a command that must fail. */
  async function refused(command: string, bucket: string, key?: string, ...rest: string[]): Promise<string> {
    const target = ['--bucket', bucket, ...(key === undefined ? [] : ['--key', key])];
    return (await s3api([254, 255], command, ...target, ...rest)).stderr;
  }
});

function json({ stdout }: Outcome): Record<string, unknown> {
  return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>);
}
