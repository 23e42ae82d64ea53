import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3ServiceException,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { long } from '../support/storage/contents.ts';
import { sdkAt, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';

type Put = (client: S3Client, where: { Bucket: string; Key: string }, body: string, seen: string) => Promise<unknown>;

/** The two ways to replace a version that was read before: as table formats do, and a repository's analysis. */
const puts: Record<string, Put> = {
  PutObject: (client, where, Body, IfMatch) => client.send(new PutObjectCommand({ ...where, Body, IfMatch })),
  CompleteMultipartUpload: async (client, where, Body, IfMatch) => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(where));
    const { ETag, ChecksumCRC32 } = await client.send(
      new UploadPartCommand({ ...where, UploadId, PartNumber: 1, Body }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
    return client.send(new CompleteMultipartUploadCommand({ ...where, UploadId, MultipartUpload, IfMatch }));
  },
};

/** The requirements of table formats, log stores and lock files on conditional writes: one winner, and no lost update. */
describe('a register of conditional writes', () => {
  let endpoint: Endpoint;
  let Bucket: string;
  const writers = 8;

  beforeAll(async () => {
    endpoint = await startEndpoint('http');
    Bucket = await endpoint.newBucket();
  });
  afterAll(() => endpoint.stop());

  it('is created by one of many', async () => {
    const client = sdkAt(endpoint);
    for (let round = 0; round < (long ? 100 : 10); round += 1) {
      const where = { Bucket, Key: `lock-${round}.tflock` };
      const tries = Array.from({ length: writers }, (_, writer) =>
        won(client.send(new PutObjectCommand({ ...where, Body: String(writer), IfNoneMatch: '*' }))),
      );
      const winners = (await Promise.all(tries)).flatMap((didWin, writer) => (didWin ? [String(writer)] : []));
      expect(winners).toEqual([(await read(client, where)).text]);
    }
  });

  it('is created again after it was deleted, in a bucket with versions, too', async () => {
    const client = sdkAt(endpoint);
    const versioned = await endpoint.newBucket();
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration }));
    for (const where of [Bucket, versioned].map((bucket) => ({ Bucket: bucket, Key: 'state.tflock' }))) {
      for (const Body of ['first', 'second']) {
        expect(await won(client.send(new PutObjectCommand({ ...where, Body, IfNoneMatch: '*' })))).toBe(true);
        expect(await won(client.send(new PutObjectCommand({ ...where, Body: 'late', IfNoneMatch: '*' })))).toBe(false);
        expect((await read(client, where)).text).toBe(Body);
        await client.send(new DeleteObjectCommand(where));
      }
    }
  });

  it.each(Object.keys(puts))('loses no update by %s', async (kind) => {
    const where = { Bucket, Key: `counter-${kind}` };
    await sdkAt(endpoint).send(new PutObjectCommand({ ...where, Body: '0' }));
    const increments = long ? 50 : 5;
    const write = async (): Promise<number> => {
      const client = sdkAt(endpoint);
      let conflicts = 0;
      for (let done = 0; done < increments;) {
        const { text, etag } = await read(client, where);
        if (await won(puts[kind]!(client, where, String(Number(text) + 1), etag))) done += 1;
        else conflicts += 1;
      }
      return conflicts;
    };
    const conflicts = await Promise.all(Array.from({ length: writers }, write));
    expect((await read(sdkAt(endpoint), where)).text).toBe(String(writers * increments));
    expect(Math.max(...conflicts), 'nothing met, so nothing was tested').toBeGreaterThan(0);
  });

  async function read(
    client: S3Client,
    where: { Bucket: string; Key: string },
  ): Promise<{ text: string; etag: string }> {
    const { Body, ETag } = await client.send(new GetObjectCommand(where));
    return { text: await Body!.transformToString(), etag: ETag! };
  }

  /** Whether a write came about. The only answers to a lost race are 412 and 409. */
  async function won(write: Promise<unknown>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
      if (status !== 412 && status !== 409) throw error;
      return false;
    }
  }
});
