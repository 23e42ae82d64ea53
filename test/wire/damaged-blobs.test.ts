import { CopyObjectCommand, HeadObjectCommand, UploadPartCopyCommand } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { appendFile, open, readFile, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { headerSize, readHeader } from '../../shared/adapters/embedded/blobs/blob-file.ts';
import { LmdbEnvironment } from '../../shared/adapters/embedded/table/lmdb-environment.ts';
import { allBytes } from '../support/bytes/all-bytes.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { leastPart, TestUpload } from '../support/storage/uploads.ts';
import { filesKept } from '../support/disks/kept-bytes.ts';

/** The responses to a client, and to others on its connection, if a disk does not hold the bytes that were written. */

const service = serviceUnderTest({ alone: true });

/** The files of the blobs that were written for a key. */
async function filesOf(key: string): Promise<string[]> {
  const blobs = join(service.started!.data, 'blobs');
  const owned = await Promise.all(
    (await filesKept(blobs)).map(async (path) => ({
      path,
      owner: readHeader((await readFile(path)).subarray(0, headerSize)),
    })),
  );
  return owned.filter(({ owner }) => owner?.key === key).map(({ path }) => path);
}

/** Flips the lowest bit of a byte of the blob in a file. */
async function flipBit(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, headerSize + at);
  await file.write(Buffer.of(buffer[0]! ^ 1), 0, 1, headerSize + at);
  await file.close();
}

/** Changes the value of the one small blob that was written for a key. */
async function changeSmall(key: string, change: (value: Buffer) => Buffer): Promise<void> {
  const environment = await LmdbEnvironment.open(join(service.started!.data, 'table'));
  const blobs = environment.database<Buffer, string>('blobs', { encoding: 'binary' });
  const [found, ...others] = [...blobs.getRange()].filter(({ value }) => value.includes(key));
  expect(others).toEqual([]);
  const value = change(Buffer.from(found!.value));
  await environment.run(() => void blobs.put(found!.key, value));
  await environment.close();
}

const damages: readonly [name: string, damage: (path: string, size: number) => Promise<void>][] = [
  ['a byte short', (path, size) => truncate(path, headerSize + size - 1)],
  ['cut to half', (path, size) => truncate(path, headerSize + Math.floor(size / 2))],
  ['cut within its head', (path) => truncate(path, 100)],
  ['empty', (path) => truncate(path, 0)],
  ['a byte too long', (path) => appendFile(path, '!')],
  ['much too long', (path) => appendFile(path, Buffer.alloc(700_000, 'surplus '))],
];

const requests: readonly [name: string, request: Omit<Unsigned, 'path'>][] = [
  ['the whole', {}],
  ['the first bytes', { headers: { range: 'bytes=0-9' } }],
  ['the last bytes', { headers: { range: 'bytes=-10' } }],
  ['its only part', { query: 'partNumber=1' }],
];

describe.runIf(!isExternal)('an object whose blob is damaged', () => {
  const other = 'what somebody else has under another key';
  let bucket: string;

  beforeAll(async () => {
    bucket = await service.lastingBucket();
    await put(service.client, bucket, 'other', other);
  });

  /** The answers to a request for the damaged object and, on the same connection and without waiting, one for another. */
  async function pipelined(key: string, request: Omit<Unsigned, 'path'>): Promise<string> {
    const sign = (unsigned: Unsigned): Buffer => requestBytes(signed(service.host, unsigned, { key: service.alice }));
    return allBytes(service.url, [
      sign({ ...request, path: `/${bucket}/${key}` }),
      sign({ path: `/${bucket}/other`, headers: { connection: 'close' } }),
    ]);
  }

  /** Expects a 500 that is whole, and the right answer behind it. */
  function expectRefusal(answers: string): void {
    const [, refused, next] =
      /^(HTTP\/1\.1 500 [^]*?<Code>InternalError<\/Code>[^]*?<\/Error>)(HTTP\/1\.1 [^]*)$/.exec(answers) ?? [];
    expect(refused, answers.slice(0, 2000)).toBeDefined();
    expect(next).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(next!.split('\r\n\r\n')[1]).toBe(other);
  }

  async function expectLogged(text: string): Promise<void> {
    await expect.poll(() => service.log()).toContain(text);
  }

  describe.each([
    ['that fits into a read', 100_000],
    ['that is read bit by bit', 1_000_000],
  ])('in a file %s', (_, size) => {
    it.each(damages)('is a 500 and nothing else, if the file is %s', async (_name, damage) => {
      const key = randomUUID();
      await put(service.client, bucket, key, Buffer.alloc(size, 'content '));
      const [path] = await filesOf(key);
      await damage(path!, size);
      for (const [, request] of requests) expectRefusal(await pipelined(key, request));
      await expectLogged(`bytes instead of ${size}`);
    });
  });

  it.each([
    ['fits into a read', 100_000, 0],
    ['fits into a read', 100_000, 99_999],
    ['is read bit by bit', 1_000_000, 0],
    ['is read bit by bit', 1_000_000, 524_287],
  ])('is a 500 and nothing else, if its file %s, has %i bytes, and byte %i has another bit', async (_, size, at) => {
    const key = randomUUID();
    await put(service.client, bucket, key, Buffer.alloc(size, 'content '));
    await flipBit((await filesOf(key))[0]!, at);
    expectRefusal(await pipelined(key, {}));
    expectRefusal(await pipelined(key, { headers: { range: `bytes=${at}-${at}` } }));
    expectRefusal(await pipelined(key, { query: 'partNumber=1' }));
    await expectLogged('has other bytes between');
  });

  it.each([524_288, 700_000, 999_999])(
    'breaks off before byte %i, if that has another bit, and answers with ranges that do not touch its segment',
    async (at) => {
      const key = randomUUID();
      const content = Buffer.alloc(1_000_000, 'content ').toString();
      await put(service.client, bucket, key, content);
      const [path] = await filesOf(key);
      await flipBit(path!, at);
      const answers = await pipelined(key, {});
      const end = answers.indexOf('\r\n\r\n') + 4;
      expect(answers.slice(0, end)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      const body = answers.slice(end);
      expect(body.length).toBeLessThanOrEqual(at);
      expect(body).toBe(content.slice(0, body.length));
      const told = `blob ${basename(path!)} has other bytes between ${at - (at % 65_536)} and `;
      await expectLogged(told);
      expect((await service.log()).split(told)).toHaveLength(2);
      expectRefusal(await pipelined(key, { headers: { range: `bytes=${at - 5}-${at + 5}` } }));
      const sound = await pipelined(key, { headers: { range: 'bytes=65530-65539' } });
      expect(sound).toMatch(/^HTTP\/1\.1 206 /);
      expect(sound.split('\r\n\r\n')[1]).toContain(content.slice(65_530, 65_540));
    },
  );

  it.each([0, 13])('is a 500, if it is small and its byte %i has another bit', async (at) => {
    const key = randomUUID();
    await put(service.client, bucket, key, 'a small object');
    await changeSmall(key, (value) => {
      value[value.length - 14 + at]! ^= 1;
      return value;
    });
    for (const [, request] of requests) expectRefusal(await pipelined(key, request));
    await expectLogged('does not match its checksum');
  });

  it('is a 500, if its checksums are lost', async () => {
    const key = randomUUID();
    await put(service.client, bucket, key, Buffer.alloc(100_000));
    const ref = basename((await filesOf(key))[0]!);
    const environment = await LmdbEnvironment.open(join(service.started!.data, 'table'));
    const checksums = environment.database<Buffer, string>('checksums', { encoding: 'binary' });
    await environment.run(() => void checksums.remove(ref));
    await environment.close();
    expectRefusal(await pipelined(key, {}));
    await expectLogged(`blob ${ref} has lost its checksums`);
  });

  it.each([5, 299_999])('is copied to nowhere, if its byte %i has another bit', async (at) => {
    const [key, copy] = [randomUUID(), randomUUID()];
    await put(service.client, bucket, key, Buffer.alloc(300_000, 'content '));
    await flipBit((await filesOf(key))[0]!, at);
    const source = { Bucket: bucket, CopySource: `${bucket}/${key}` };
    const rewritten = { ...source, Key: copy, ServerSideEncryption: 'AES256' } as const;
    await expect(service.client.send(new CopyObjectCommand(rewritten))).rejects.toEqual(s3Error('InternalError', 500));
    const upload = await TestUpload.begin(service.client, bucket, copy);
    const part = { ...source, ...upload.target, PartNumber: 1 };
    await expect(service.client.send(new UploadPartCopyCommand(part))).rejects.toEqual(s3Error('InternalError', 500));
    await expect(service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: copy }))).rejects.toThrow();
  });

  it.each([
    ['a byte short', (value: Buffer) => value.subarray(0, -1)],
    ['a byte too long', (value: Buffer) => Buffer.concat([value, Buffer.from('!')])],
    ['cut within the name of its owner', (value: Buffer) => value.subarray(0, 60)],
  ])('is a 500, if it is small and %s', async (_, change) => {
    const key = randomUUID();
    await put(service.client, bucket, key, 'a small object');
    await changeSmall(key, change);
    for (const [, request] of requests) expectRefusal(await pipelined(key, request));
    await expectLogged('bytes instead of 14');
  });

  it.each(damages)('is a 500, if it is encrypted and its file is %s', async (_, damage) => {
    const key = randomUUID();
    await put(service.client, bucket, key, Buffer.alloc(1_000_000, 'content '), { ServerSideEncryption: 'AES256' });
    const [path] = await filesOf(key);
    const stored = (await readFile(path!)).length - headerSize;
    await damage(path!, stored);
    for (const [, request] of requests) expectRefusal(await pipelined(key, request));
    await expectLogged(`bytes instead of ${stored}`);
  });

  it('is told as ever by a HEAD, which reads nothing of it', async () => {
    const key = randomUUID();
    await put(service.client, bucket, key, Buffer.alloc(100_000));
    await truncate((await filesOf(key))[0]!, headerSize + 7);
    const [head, next, body] = (await pipelined(key, { method: 'HEAD' })).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head!.toLowerCase()).toContain('content-length: 100000');
    expect([next!.slice(0, 15), body]).toEqual(['HTTP/1.1 200 OK', other]);
  });

  it.each(damages)(
    'breaks the connection off where its second part is %s, and lets nothing else into it',
    async (_, damage) => {
      const key = randomUUID();
      const upload = await TestUpload.begin(service.client, bucket, key);
      const one = await upload.part(1, Buffer.alloc(leastPart, 'one '));
      const before = await filesOf(key);
      const two = await upload.part(2, Buffer.alloc(300_000, 'two '));
      const path = (await filesOf(key)).find((file) => !before.includes(file));
      await upload.complete([one, two]);
      await damage(path!, 300_000);
      const answers = await pipelined(key, {});
      const end = answers.indexOf('\r\n\r\n') + 4;
      const head = answers.slice(0, end);
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(head.toLowerCase()).toContain(`content-length: ${leastPart + 300_000}\r\n`);
      const body = answers.slice(end);
      expect(body).toBe('one '.repeat(leastPart).slice(0, body.length));
      await expectLogged('a response broke off');
      expectRefusal(await pipelined(key, { query: 'partNumber=2' }));
      expectRefusal(await pipelined(key, { headers: { range: 'bytes=-10' } }));
    },
  );

  it.each(damages)('is copied to nowhere, if the file is %s', async (_, damage) => {
    const [key, copy] = [randomUUID(), randomUUID()];
    await put(service.client, bucket, key, Buffer.alloc(300_000, 'content '));
    await damage((await filesOf(key))[0]!, 300_000);
    const source = { Bucket: bucket, CopySource: `${bucket}/${key}` };
    const rewritten = { ...source, Key: copy, ServerSideEncryption: 'AES256' } as const;
    await expect(service.client.send(new CopyObjectCommand(rewritten))).rejects.toEqual(s3Error('InternalError', 500));
    const upload = await TestUpload.begin(service.client, bucket, copy);
    const part = { ...source, ...upload.target, PartNumber: 1, CopySourceRange: 'bytes=5-9' };
    await expect(service.client.send(new UploadPartCopyCommand(part))).rejects.toEqual(s3Error('InternalError', 500));
    await expect(service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: copy }))).rejects.toThrow();
  });
});
