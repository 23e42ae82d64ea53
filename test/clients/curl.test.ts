import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, startEndpoint, type Endpoint, reverseProxy, ways } from '../support/programs/endpoint.ts';
import { isInstalled, run, skip, type Outcome, type RunOptions } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('curl');
const signs = installed && isInstalled('curl', ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--version']);

describe.each(ways)('curl over $scheme, buckets in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;
  let client: S3Client;
  let Bucket: string;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    client = sdkAt(endpoint, style === 'path' ? {} : { endpoint: endpoint.hostStyleUrl, forcePathStyle: false });
    Bucket = await endpoint.newBucket();
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!installed) skip(context, 'curl is not installed: apt-get install curl');
  });

  const curl = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
    run('curl', ['--silent', '--show-error', '--http1.1', '--cacert', endpoint.authority.file, ...args], options);
  const url = (key: string): string => {
    const { protocol, host } = new URL(style === 'path' ? endpoint.url : endpoint.hostStyleUrl);
    return style === 'path' ? `${protocol}//${host}/${Bucket}/${key}` : `${protocol}//${Bucket}.${host}/${key}`;
  };

  it('puts, heads and gets by presigned URLs', async () => {
    const where = { Bucket, Key: 'a b/é+&=.txt' };
    const putUrl = await getSignedUrl(client, new PutObjectCommand(where));
    await curl(['--fail', '--upload-file', '-', putUrl], { input: 'from standard input' });
    const getUrl = await getSignedUrl(client, new GetObjectCommand(where));
    expect((await curl(['--fail', getUrl])).stdout).toBe('from standard input');
    expect((await curl(['--fail', '--range', '5-12', getUrl])).stdout).toBe('standard');

    const headUrl = await getSignedUrl(client, new HeadObjectCommand(where));
    const head = (await curl(['--fail', '--head', headUrl])).stdout;
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head.toLowerCase()).toContain('content-length: 19\r\n');
    expect(head.toLowerCase()).toContain(`etag: "${md5('from standard input')}"\r\n`);
  });

  it('waits for 100 Continue before it sends a big body', async () => {
    const file = join(endpoint.folder, 'big');
    const content = await randomFile(file, (long ? 200 : 12) * MiB);
    const putUrl = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'big' }));
    const expecting = ['--verbose', '--header', 'Expect: 100-continue', '--upload-file', file];
    const { stderr } = await curl([...expecting, '--fail', putUrl]);
    expect(stderr).toMatch(/^< HTTP\/1\.1 100 Continue/m);
    expect(stderr).toMatch(/^< HTTP\/1\.1 200 /m);

    const getUrl = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'big' }));
    await curl(['--fail', '--output', join(endpoint.folder, 'back'), getUrl]);
    expect(md5(await readFile(join(endpoint.folder, 'back')))).toBe(md5(content));

    const report = '%{stderr}sent %{size_upload}, code %{http_code}';
    const refused = await curl([...expecting, '--write-out', report, putUrl.replace('/big', '/other')]);
    expect(refused.stdout).toContain('<Code>SignatureDoesNotMatch</Code>');
    // docs/running.md: a reverse proxy may send it by itself.
    if (reverseProxy) expect(refused.stderr).toContain('code 403');
    else {
      expect(refused.stderr).not.toContain('100 Continue');
      expect(refused.stderr).toContain('sent 0, code 403');
    }
  });

  it('signs by itself', async (context) => {
    if (!signs) return skip(context, 'this curl has no --aws-sigv4: it came with 7.75');
    // S3 wants the header of the content's hash, which curl adds by itself only since version 8.
    const hash = ['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'];
    const user = ['--user', `${alice.accessKeyId}:${alice.secretAccessKey}`];
    const sign = ['--fail', '--aws-sigv4', 'aws:amz:us-east-1:s3', ...user, ...hash];
    const file = join(endpoint.folder, 'signed');
    const content = await randomFile(file, 2 * MiB);
    await curl([...sign, '--upload-file', file, url('dir/signed.bin')]);
    expect(md5((await curl([...sign, url('dir/signed.bin')])).bytes)).toBe(md5(content));
    expect((await curl([...sign, '--head', url('dir/signed.bin')])).stdout).toMatch(/content-length: 2097152\r/i);
    expect((await curl([...sign, `${url('')}?list-type=2&prefix=dir%2F`])).stdout).toContain(
      '<Key>dir/signed.bin</Key>',
    );
    await curl([...sign, '--request', 'DELETE', url('dir/signed.bin')]);
    expect((await curl([...sign, url('dir/signed.bin')], { codes: [22] })).stderr).toContain('404');
  });
});
