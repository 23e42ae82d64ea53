import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { boto3Installed, boto3Session, boto3Steps, howToInstallBoto3 } from '../support/clients/boto3.ts';
import { bucketName } from '../support/clients/clients.ts';
import { md5, MiB, randomFile } from '../support/storage/contents.ts';
import { schemes, sdkAt, send, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { isInstalled, skip } from '../support/programs/programs.ts';
import { howToInstallS3cmd, s3cmdFor, s3cmdInstalled, type S3cmd } from '../support/clients/s3cmd.ts';

/** Other clients than the AWS SDK for JavaScript (reverse-proxies.test.ts) behind docs/recipes/nginx.conf and Caddyfile. */

const proxies = [
  { name: 'nginx', isThere: isInstalled('nginx', ['-v']) },
  { name: 'caddy', isThere: isInstalled('caddy', ['version']) },
] as const;

/** Over HTTP buckets are in the path, over HTTPS in the host name. */
const ways = proxies.flatMap((proxy) =>
  schemes.map((scheme) => ({
    ...{ ...proxy, scheme },
    style: scheme === 'http' ? ('path' as const) : ('host name' as const),
  })),
);

describe.each(ways)('behind $name over $scheme, buckets in the $style', ({ name, isThere, scheme, style }) => {
  let endpoint: Endpoint | undefined;

  beforeAll(async () => {
    if (isThere) endpoint = await startEndpoint(scheme, name);
  });
  afterAll(() => endpoint?.stop());
  beforeEach((context) => {
    if (!isThere) skip(context, `${name} is not installed: apt-get install ${name}`);
  });

  describe('boto3', () => {
    let outcomes: Record<string, string>;
    beforeAll(async () => {
      if (endpoint && boto3Installed) outcomes = await boto3Session(endpoint, style, name);
    });
    beforeEach((context) => {
      if (!boto3Installed) skip(context, howToInstallBoto3);
    });

    it.each(boto3Steps)('%s', (step) => {
      expect(outcomes[step]).toBe('ok');
    });
  });

  describe.each(['v4', 'v2'] as const)('s3cmd, signature %s', (signature) => {
    let s3cmd: S3cmd;
    let bucket: string;
    beforeAll(async () => {
      if (endpoint && s3cmdInstalled) s3cmd = await s3cmdFor(endpoint, style, signature);
    });
    beforeEach(async (context) => {
      if (!s3cmdInstalled) return skip(context, howToInstallS3cmd);
      bucket = `s3://${bucketName('s3cmd')}`;
      await s3cmd(['mb', bucket]);
    });

    it('has keys as they are, in objects, listings and presigned URLs', async () => {
      const keys = ['a//b', '/a', 'a%2Fb', '%', 'a+b c&d=e#f', '日本/ü', "(a)!*'~;:@$,", '%00', 'a%20b', 'a  b'];
      for (const key of keys) {
        await s3cmd(['put', '-', `${bucket}/${key}`], { input: `content of ${key}` });
        expect((await s3cmd(['get', `${bucket}/${key}`, '-'])).stdout).toBe(`content of ${key}`);
        const url = (await s3cmd(['signurl', `${bucket}/${key}`, '+600'])).stdout.trim();
        expect(await send(endpoint!, url)).toMatchObject({ status: 200, text: `content of ${key}` });
      }
      const listed = (await s3cmd(['ls', '--recursive', bucket])).stdout.split('\n').filter((line) => line !== '');
      const found = listed.map((line) => line.slice(line.indexOf(bucket) + bucket.length + 1));
      expect(found.toSorted()).toEqual(keys.toSorted());
      await s3cmd(['rb', '--recursive', '--force', bucket]);
    });

    it('uploads in parts, and reads on where it stopped', async () => {
      const content = await randomFile(join(endpoint!.folder, 'large'), 12 * MiB);
      await s3cmd(['put', '--multipart-chunk-size-mb=5', join(endpoint!.folder, 'large'), `${bucket}/a b+c`]);
      const head = await sdkAt(endpoint!).send(new HeadObjectCommand({ Bucket: bucket.slice(5), Key: 'a b+c' }));
      expect(head).toMatchObject({ ContentLength: content.length, ETag: expect.stringMatching(/-3"$/) as string });
      const back = join(endpoint!.folder, `back-${signature}`);
      await writeFile(back, content.subarray(0, 5 * MiB));
      await s3cmd(['get', '--continue', `${bucket}/a b+c`, back]);
      expect(md5(await readFile(back))).toBe(md5(content));
      await s3cmd(['rb', '--recursive', '--force', bucket]);
    });
  });
});
