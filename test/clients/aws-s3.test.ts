import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aws, awsInstalled, awsEnvironment, howToInstallAws } from '../support/clients/aws-cli.ts';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { schemes, sdkAt, send, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { skip, type Outcome, type RunOptions } from '../support/programs/programs.ts';

// Each command takes half a second of Python, so behaviour that is not specific to it is tested with the SDK.
describe.each(schemes)('aws s3 over %s', (scheme) => {
  let endpoint: Endpoint;
  let folder: string;
  let client: S3Client;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    folder = endpoint.folder;
    client = sdkAt(endpoint);
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!awsInstalled) skip(context, howToInstallAws);
  });

  const s3 = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
    aws(['s3', ...args], { ...options, env: { ...awsEnvironment(endpoint), ...options.env } });

  it('makes a bucket, keeps a file in it, and removes both', async () => {
    const bucket = bucketName('aws');
    const content = await randomFile(join(folder, 'small'), 1000);
    expect((await s3(['mb', `s3://${bucket}`])).stdout).toBe(`make_bucket: ${bucket}\n`);
    await s3(['cp', join(folder, 'small'), `s3://${bucket}/dir/small`]);
    expect((await s3(['ls'])).stdout).toContain(bucket);
    expect((await s3(['ls', `s3://${bucket}/`])).stdout).toMatch(/^ +PRE dir\/$/m);
    expect((await s3(['ls', `s3://${bucket}`, '--recursive'])).stdout).toMatch(/ 1000 dir\/small$/m);
    expect((await s3(['cp', `s3://${bucket}/dir/small`, '-'])).bytes).toEqual(content);
    expect((await s3(['rb', `s3://${bucket}`], { codes: [1] })).stderr).toContain('(BucketNotEmpty)');
    await s3(['rm', `s3://${bucket}/dir/small`]);
    await s3(['rb', `s3://${bucket}`]);
  });

  it('copies a big file in parts to the service, and back', async () => {
    const bucket = await endpoint.newBucket();
    const content = await randomFile(join(folder, 'big'), (long ? 200 : 20) * MiB);
    await s3(['cp', join(folder, 'big'), `s3://${bucket}/big`]);
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'big' }));
    expect(ETag).toMatch(new RegExp(`^"[0-9a-f]{32}-${Math.ceil(content.length / (8 * MiB))}"$`));
    await s3(['cp', `s3://${bucket}/big`, join(folder, 'big-back')]);
    expect(md5(await readFile(join(folder, 'big-back')))).toBe(md5(content));
  });

  it('copies a big object in parts inside the service', async () => {
    const bucket = await endpoint.newBucket();
    const content = await randomFile(join(folder, 'inside'), 9 * MiB);
    await s3(['cp', join(folder, 'inside'), `s3://${bucket}/one`]);
    await s3(['cp', `s3://${bucket}/one`, `s3://${bucket}/two`]);
    expect(md5(await stored(bucket, 'two'))).toBe(md5(content));
  });

  it('takes a stream of unknown length from standard input', async () => {
    const bucket = await endpoint.newBucket();
    const content = await randomFile(join(folder, 'stream'), 9 * MiB);
    await s3(['cp', '-', `s3://${bucket}/stream`], { input: content });
    await s3(['cp', '-', `s3://${bucket}/empty`], { input: '' });
    expect(md5(await stored(bucket, 'stream'))).toBe(md5(content));
    expect(await stored(bucket, 'empty')).toHaveLength(0);
  });

  it('renames an object', async () => {
    const bucket = await endpoint.newBucket();
    const content = await randomFile(join(folder, 'moved'), 100);
    await s3(['mv', join(folder, 'moved'), `s3://${bucket}/one`]);
    await s3(['mv', `s3://${bucket}/one`, `s3://${bucket}/two`]);
    expect(await stored(bucket, 'two')).toEqual(content);
    await expect(stored(bucket, 'one')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('shares an object by a presigned URL', async () => {
    const bucket = await endpoint.newBucket();
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'a b+é', Body: 'shared' }));
    const url = (await s3(['presign', `s3://${bucket}/a b+é`, '--expires-in', '60'])).stdout.trim();
    expect(await send(endpoint, url)).toMatchObject({ status: 200, text: 'shared' });
  });

  it('syncs folders of awkward names both ways, and deletes what is gone', async () => {
    const bucket = await endpoint.newBucket();
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    await awkwardTree(there);
    await s3(['sync', there, `s3://${bucket}/tree`]);
    await s3(['sync', `s3://${bucket}/tree`, back]);
    expect(await filesBelow(back)).toEqual(await filesBelow(there));

    await rm(join(there, awkwardNames[0]!));
    await writeFile(join(there, awkwardNames[1]!), 'changed, and of another length');
    const second = (await s3(['sync', '--delete', there, `s3://${bucket}/tree`])).stdout;
    expect(second.match(/^\w+(?=:)/gm)?.sort()).toEqual(['delete', 'upload']);
    await s3(['sync', '--delete', `s3://${bucket}/tree`, back]);
    expect(await filesBelow(back)).toEqual(await filesBelow(there));
  });

  it('finds buckets in the host name', async () => {
    const config = join(folder, 'host-style');
    await writeFile(config, '[default]\ns3 =\n  addressing_style = virtual\n');
    const hostStyle = {
      env: { ...endpoint.proxy.env, AWS_CONFIG_FILE: config, AWS_ENDPOINT_URL: endpoint.hostStyleUrl },
    };
    const bucket = bucketName('host');
    const content = await randomFile(join(folder, 'host'), 9 * MiB);
    await s3(['mb', `s3://${bucket}`], hostStyle);
    await s3(['cp', join(folder, 'host'), `s3://${bucket}/a b`], hostStyle);
    expect((await s3(['ls', `s3://${bucket}`], hostStyle)).stdout).toMatch(/ 9437184 a b$/m);
    expect(md5(await stored(bucket, 'a b'))).toBe(md5(content));
  });

  async function stored(bucket: string, key: string): Promise<Uint8Array> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    return Buffer.from(await Body!.transformToByteArray());
  }
});
