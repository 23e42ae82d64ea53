import { CreateMultipartUploadCommand, HeadObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, startEndpoint, type Endpoint, someWays } from '../support/programs/endpoint.ts';
import { skip } from '../support/programs/programs.ts';
import { howToInstallS3cmd, s3cmdFor, s3cmdInstalled, type S3cmd } from '../support/clients/s3cmd.ts';

const ways = [
  ...someWays.map((way) => ({ ...way, signature: 'v4' as const })),
  { scheme: 'http', style: 'path', signature: 'v2' },
] as const;
const title = 's3cmd over $scheme, buckets in the $style, signature $signature';

describe.each(ways)(title, ({ scheme, style, signature }) => {
  let endpoint: Endpoint;
  let folder: string;
  let bucket: string;
  let s3cmd: S3cmd;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    folder = endpoint.folder;
    s3cmd = await s3cmdFor(endpoint, style, signature);
  });
  afterAll(() => endpoint.stop());
  beforeEach(async (context) => {
    if (!s3cmdInstalled) return skip(context, howToInstallS3cmd);
    bucket = `s3://${bucketName('s3cmd')}`;
    await s3cmd(['mb', bucket]);
  });

  it('puts, lists, gets and deletes', async () => {
    const content = await randomFile(join(folder, 'small file'), 1000);
    await s3cmd(['put', join(folder, 'small file'), `${bucket}/dir/é +.txt`]);
    expect((await s3cmd(['ls'])).stdout).toContain(bucket);
    expect((await s3cmd(['ls', bucket])).stdout).toMatch(/DIR +s3:.*\/dir\/$/m);
    expect((await s3cmd(['ls', '--recursive', bucket])).stdout).toMatch(/ 1000 +s3:.*\/dir\/é \+\.txt$/m);
    await s3cmd(['get', `${bucket}/dir/é +.txt`, join(folder, 'back')]);
    expect(await readFile(join(folder, 'back'))).toEqual(content);
    await s3cmd(['del', `${bucket}/dir/é +.txt`]);
    expect((await s3cmd(['ls', '--recursive', bucket])).stdout).toBe('');
    await s3cmd(['rb', bucket]);
    expect((await s3cmd(['ls', bucket], { codes: [12] })).stderr).toContain('NoSuchBucket');
  });

  it('puts a big file in parts of 15 MiB', async () => {
    const content = await randomFile(join(folder, 'big'), (long ? 100 : 16) * MiB);
    await s3cmd(['put', join(folder, 'big'), `${bucket}/big`]);
    const head = await sdkAt(endpoint).send(new HeadObjectCommand({ Bucket: bucket.slice(5), Key: 'big' }));
    expect(head.ETag).toMatch(new RegExp(`-${Math.ceil(content.length / (15 * MiB))}"$`));
    expect(head.Metadata).toHaveProperty('s3cmd-attrs', expect.stringContaining(`md5:${md5(content)}`));
    await s3cmd(['get', `${bucket}/big`, join(folder, 'big-back')]);
    expect(md5(await readFile(join(folder, 'big-back')))).toBe(md5(content));
    await s3cmd(['put', '-', `${bucket}/stream`], { input: content });
    expect((await s3cmd(['ls', bucket])).stdout).toMatch(new RegExp(` ${content.length} +s3:.*/stream$`, 'm'));
  });

  it('syncs both ways and deletes what is gone', async () => {
    const [there, back] = [join(folder, 'there'), join(folder, 'back-tree')];
    await awkwardTree(there);
    await s3cmd(['sync', `${there}/`, `${bucket}/tree/`]);
    await s3cmd(['sync', `${bucket}/tree/`, `${back}/`]);
    expect(await filesBelow(back)).toEqual(await filesBelow(there));
    await rm(join(there, awkwardNames[0]!));
    await appendFile(join(there, awkwardNames[1]!), 'more');
    await s3cmd(['sync', '--delete-removed', `${there}/`, `${bucket}/tree/`]);
    await s3cmd(['sync', '--delete-removed', `${bucket}/tree/`, `${back}/`]);
    expect(await filesBelow(back)).toEqual(await filesBelow(there));
    await s3cmd(['rb', '--recursive', '--force', bucket]);
  });

  it('copies, moves and changes objects inside the service', async () => {
    await s3cmd(['put', '-', `${bucket}/one`], { input: 'one' });
    await s3cmd(['cp', `${bucket}/one`, `${bucket}/two`]);
    await s3cmd(['mv', `${bucket}/one`, `${bucket}/three`]);
    await s3cmd(['modify', '--add-header', 'x-amz-meta-colour: blue', `${bucket}/three`]);
    expect((await s3cmd(['ls', bucket])).stdout.match(/(?<!\w)\w+$/gm)).toEqual(['three', 'two']);
    expect((await s3cmd(['get', `${bucket}/three`, '-'])).stdout).toBe('one');
    expect((await s3cmd(['info', `${bucket}/three`])).stdout).toMatch(/x-amz-meta-colour: blue/);
  });

  it('tells where a bucket is', async () => {
    expect((await s3cmd(['info', bucket])).stdout).toMatch(/Location: +us-east-1/);
  });

  it('shows and aborts unfinished uploads', async () => {
    const where = { Bucket: bucket.slice(5), Key: 'unfinished' };
    const { UploadId } = await sdkAt(endpoint).send(new CreateMultipartUploadCommand(where));
    const part = { ...where, UploadId, PartNumber: 3, Body: 'part' };
    await sdkAt(endpoint).send(new UploadPartCommand(part));
    expect((await s3cmd(['multipart', bucket])).stdout).toContain(`${bucket}/unfinished\t${UploadId!}`);
    expect((await s3cmd(['listmp', `${bucket}/unfinished`, UploadId!])).stdout).toMatch(/\t3\t"?\w{32}"?\t4$/m);
    await s3cmd(['abortmp', `${bucket}/unfinished`, UploadId!]);
    expect((await s3cmd(['multipart', bucket])).stdout).not.toContain('unfinished');
  });

  it('makes a website, and sets CORS rules', async () => {
    await s3cmd(['ws-create', '--ws-index', 'start.html', '--ws-error', 'sorry.html', bucket]);
    const { stdout } = await s3cmd(['ws-info', bucket]);
    expect(stdout).toMatch(/Index document: +start\.html/);
    expect(stdout).toMatch(/Error document: +sorry\.html/);
    await s3cmd(['ws-delete', bucket]);
    const rules = join(folder, 'cors.xml');
    const rule = '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>';
    await writeFile(rules, `<CORSConfiguration>${rule}</CORSConfiguration>`);
    await s3cmd(['setcors', rules, bucket]);
    expect((await s3cmd(['info', bucket])).stdout).toMatch(/CORS: .*<AllowedOrigin>\*<\/AllowedOrigin>/s);
    await s3cmd(['delcors', bucket]);
    expect((await s3cmd(['info', bucket])).stdout).toMatch(/CORS: +none/);
  });

  if (style !== 'path') return;

  // Commands of s3cmd that the service does not implement: it must report so, and change nothing.
  it.each<[string, string[]]>([
    ['a notification', ['setnotification', 'test/clients/notification.xml', '@']],
    ['a payer', ['payer', '--requester-pays', '@']],
  ])('is told that %s is not implemented', async (_, command) => {
    const args = command.map((one) => one.replace('@', bucket));
    await expect(s3cmd(args)).rejects.toThrow(/501|NotImplemented/);
  });
});
