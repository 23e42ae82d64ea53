import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { expectKeystream, keystream } from '../support/bytes/keystream.ts';
import { MemoryWatch } from '../support/runs/memory.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed } from '../support/clients/signer.ts';

const MiB = 1024 * 1024;
const size = (process.env['TEST_LONG'] ? 1024 : 128) * MiB;
const partCount = 16;
/** The maximum MiB that the service may use, whatever its load: usually some 180, and more while garbage collection is late on a busy machine. */
const bound = 240;
/** MiB that it may use when many readers stand still: the chunks that each took before wait for the garbage collector. */
const boundOfMany = 320;
const Bucket = 'bucket';
/** The headers of encryption with a customer key, as options of the SDK. */
const encrypted = { SSECustomerAlgorithm: 'AES256', SSECustomerKey: 'a key of exactly 32 characters!!' } as const;
type Encryption = Partial<typeof encrypted>;

/** The service streams: its memory does not grow with the size of a request. */
describe(`${size / MiB} MiB`, () => {
  let service: Service;
  let client: S3Client;
  let memory: MemoryWatch | undefined;
  beforeAll(async () => {
    service = await startService();
    client = sdk(service);
    if (MemoryWatch.isPossible) memory = new MemoryWatch(service.pid);
    await client.send(new CreateBucketCommand({ Bucket }));
  });
  afterAll(async () => {
    memory?.stop();
    client.destroy();
    await service.stop();
  });

  function report(what: string, started: number, most = bound): void {
    const seconds = (Date.now() - started) / 1000;
    const used = memory && `, ${memory.peak()} MiB in use at most, ${memory.highWaterMark()} MiB ever`;
    console.log(`${what}: ${seconds.toFixed(1)} s, ${Math.round(size / MiB / seconds)} MiB/s${used ?? ''}`);
    if (memory) expect(memory.highWaterMark()).toBeLessThan(most);
  }

  async function download(key: string, encryption: Encryption = {}): Promise<void> {
    const started = Date.now();
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key, ...encryption }));
    expect(await expectKeystream(Body as Readable)).toBe(size);
    report(`${key}, down`, started);
  }

  it.each<[key: string, Encryption]>([
    ['whole', {}],
    ['whole-encrypted', encrypted],
  ])('go up and down in one piece: %s', async (Key, encryption) => {
    const started = Date.now();
    const Body = keystream(0, size);
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: size, ...encryption }));
    report(`${Key}, up`, started);
    await download(Key, encryption);
  });

  it.each<[key: string, Encryption]>([
    ['parts', {}],
    ['parts-encrypted', encrypted],
  ])(`go up in ${partCount} parts at the same time, and come down as one: %s`, async (Key, encryption) => {
    const started = Date.now();
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...encryption }));
    const ContentLength = size / partCount;
    const upload = async (_: unknown, index: number) => {
      const { ETag, ChecksumCRC32 } = await client.send(
        new UploadPartCommand({
          ...{ Bucket, Key, UploadId, ...encryption },
          PartNumber: index + 1,
          Body: keystream(index * ContentLength, ContentLength),
          ContentLength,
        }),
      );
      return { ETag, ChecksumCRC32, PartNumber: index + 1 };
    };
    const Parts = await Promise.all(Array.from({ length: partCount }, upload));
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    report(`${Key}, up`, started);
    await download(Key, encryption);
  });

  it('cost little while their readers stand still', async () => {
    const started = Date.now();
    const { host, hostname } = new URL(service.url);
    const request = requestBytes(signed(host, { path: `/${Bucket}/whole` }, { key: alice }));
    const readers = Array.from({ length: 32 }, () => connect(service.port, hostname));
    for (const reader of readers) reader.write(request);
    await sleep(1000);
    for (const reader of readers) reader.destroy();
    report('32 readers that stand still', started, boundOfMany);
  });
});
