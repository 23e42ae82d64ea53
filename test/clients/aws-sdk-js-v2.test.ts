import S3 from 'aws-sdk/clients/s3.js';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { agents, schemes, send, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { alice } from '../support/programs/server.ts';

process.env['AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE'] = '1';

const styles = ['path', 'host name'] as const;
const settings = [
  ...schemes.flatMap((scheme) => styles.map((style) => ({ scheme, signature: 'v4', style }))),
  ...styles.map((style) => ({ scheme: 'http' as const, signature: 'v2', style })),
];

describe.each(settings)(
  'aws-sdk 2 over $scheme, signature $signature, buckets in the $style',
  ({ scheme, signature, style }) => {
    const Bucket = bucketName('js2');
    let endpoint: Endpoint;
    let s3: S3;

    beforeAll(async () => {
      endpoint = await startEndpoint(scheme);
      s3 = new S3({
        endpoint: style === 'path' ? endpoint.url : endpoint.hostStyleUrl,
        s3ForcePathStyle: style === 'path',
        signatureVersion: signature,
        region: 'us-east-1',
        accessKeyId: alice.accessKeyId,
        secretAccessKey: alice.secretAccessKey,
        httpOptions: { agent: agents(endpoint).agent },
      });
    });
    afterAll(() => endpoint.stop());

    it('creates a bucket', async () => {
      await s3.createBucket({ Bucket }).promise();
      // A deployment in the cloud has those of other tests as well.
      const { Buckets } = await s3.listBuckets().promise();
      expect(Buckets!.filter(({ Name }) => Name === Bucket)).toHaveLength(1);
      await s3.headBucket({ Bucket }).promise();
      await expect(s3.headBucket({ Bucket: bucketName('none') }).promise()).rejects.toMatchObject({ code: 'NotFound' });
    });

    it.each(awkwardNames)('puts %s, and gets it', async (Key) => {
      const put = await s3
        .putObject({ Bucket, Key, Body: `content of ${Key}`, Metadata: { colour: 'blue' } })
        .promise();
      expect(put.ETag).toBe(`"${md5(`content of ${Key}`)}"`);
      expect(await s3.getObject({ Bucket, Key }).promise()).toMatchObject({
        Body: Buffer.from(`content of ${Key}`),
        Metadata: { colour: 'blue' },
        LastModified: expect.any(Date) as Date,
      });
    });

    it('puts a file stream, and gets a range of it', async () => {
      const file = join(endpoint.folder, 'streamed');
      const content = await randomFile(file, MiB);
      await s3.putObject({ Bucket, Key: 'stream', Body: createReadStream(file) }).promise();
      const { Body } = await s3.getObject({ Bucket, Key: 'stream', Range: 'bytes=1000-1999' }).promise();
      expect(Body).toEqual(content.subarray(1000, 2000));
    });

    it('uploads in parts', async () => {
      const file = join(endpoint.folder, 'big');
      const content = await randomFile(file, (long ? 100 : 11) * MiB);
      const { ETag } = await s3.upload({ Bucket, Key: 'big', Body: createReadStream(file) }).promise();
      expect(ETag).toMatch(new RegExp(`-${Math.ceil(content.length / (5 * MiB))}"$`));
      expect(md5((await s3.getObject({ Bucket, Key: 'big' }).promise()).Body as Buffer)).toBe(md5(content));
    });

    it('copies', async () => {
      const CopySource = encodeURI(`/${Bucket}/${awkwardNames[1]!}`);
      await s3.copyObject({ Bucket, Key: 'copy', CopySource }).promise();
      expect((await s3.headObject({ Bucket, Key: 'copy' }).promise()).Metadata).toEqual({ colour: 'blue' });
    });

    it('puts and gets by presigned URLs', async () => {
      const where = { Bucket, Key: 'pre signed/é' };
      const putUrl = await s3.getSignedUrlPromise('putObject', where);
      expect((await send(endpoint, putUrl, { method: 'PUT', body: 'presigned' })).status).toBe(200);
      const attachment = { ResponseContentDisposition: 'attachment' };
      const getUrl = await s3.getSignedUrlPromise('getObject', { ...where, ...attachment, Expires: 60 });
      expect(await send(endpoint, getUrl)).toMatchObject({
        status: 200,
        text: 'presigned',
        headers: { 'content-disposition': 'attachment' },
      });
      expect((await send(endpoint, getUrl.replace('pre', 'post'))).status).toBe(403);
    });

    it('lists, and deletes many', async () => {
      const { Contents } = await s3.listObjectsV2({ Bucket, Prefix: 'deep/' }).promise();
      expect(Contents).toMatchObject([{ Key: 'deep/er/and/deeper.txt' }]);
      const all = (await s3.listObjects({ Bucket }).promise()).Contents!.map(({ Key }) => ({ Key: Key! }));
      const { Deleted, Errors } = await s3.deleteObjects({ Bucket, Delete: { Objects: all } }).promise();
      expect([Deleted!.length, Errors]).toEqual([all.length, []]);
      await s3.deleteBucket({ Bucket }).promise();
    });
  },
);
