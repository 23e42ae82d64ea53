import { describe, expect, it } from 'vitest';
import { crc32 } from 'node:zlib';
import { createHash } from 'node:crypto';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Names of algorithms and types that contradict the checksum beside them. */

const service = serviceUnderTest();

function crcOf(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64');
}

const shaOf = (text: string): string => createHash('sha256').update(text).digest('base64');

type Headers = Readonly<Record<string, string>>;
type Send = (bucket: string, body: string, headers: Headers) => Promise<RawResponse>;

const requests: Readonly<Record<string, readonly [send: Send, body: string]>> = {
  PutObject: [
    (bucket, body, headers) => service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body }),
    'content',
  ],
  UploadPart: [
    async (bucket, body, headers) => {
      const path = `/${bucket}/key`;
      const id = textOf((await service.send({ method: 'POST', path, query: 'uploads' })).text, 'UploadId')!;
      return service.send({ method: 'PUT', path, query: `partNumber=1&uploadId=${id}`, headers, body });
    },
    'content',
  ],
  DeleteObjects: [
    (bucket, body, headers) => service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', headers, body }),
    '<Delete><Object><Key>key</Key></Object></Delete>',
  ],
  PutBucketTagging: [
    (bucket, body, headers) => service.send({ method: 'PUT', path: `/${bucket}`, query: 'tagging', headers, body }),
    '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>',
  ],
};

describe.each(Object.entries(requests))('x-amz-sdk-checksum-algorithm of %s', (_, [send, body]) => {
  it.each(['SHA256', 'CRC32C', 'BOGUS', '', 'MD5'])('that is %j beside a CRC32 is refused', async (name) => {
    const bucket = await service.bucket();
    const headers = { 'x-amz-checksum-crc32': crcOf(body), 'x-amz-sdk-checksum-algorithm': name };
    expectError(await send(bucket, body, headers), 400, 'InvalidRequest');
    expect((await service.send({ path: `/${bucket}/key` })).status).toBe(404);
  });

  it.each(['CRC32', 'crc32'])('that is the one of the checksum is accepted: %s', async (name) => {
    const headers = { 'x-amz-checksum-crc32': crcOf(body), 'x-amz-sdk-checksum-algorithm': name };
    const answer = await send(await service.bucket(), body, headers);
    expect(answer.status, answer.text).toBeLessThan(300);
  });
});

it('x-amz-sdk-checksum-algorithm is the one of a trailer', async () => {
  const bucket = await service.bucket();
  const content = 'content';
  const upload = (name: string): Promise<RawResponse> =>
    service.send(
      {
        ...{ method: 'PUT', path: `/${bucket}/key` },
        headers: {
          'x-amz-decoded-content-length': String(content.length),
          'x-amz-trailer': 'x-amz-checksum-crc32',
          'x-amz-sdk-checksum-algorithm': name,
        },
        body: `${content.length.toString(16)}\r\n${content}\r\n0\r\nx-amz-checksum-crc32:${crcOf(content)}\r\n\r\n`,
      },
      { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
    );
  for (const name of ['SHA256', 'BOGUS']) expectError(await upload(name), 400, 'InvalidRequest');
  expect((await upload('CRC32')).status).toBe(200);
});

interface Created {
  readonly create: Headers;
  readonly part: Headers;
  /** The checksum in the entry of the part. */
  readonly entry: string;
}

/** Creates and completes an upload of one part. */
async function completed({ create, part, entry }: Created, headers: Headers): Promise<RawResponse> {
  const path = `/${await service.bucket()}/key`;
  const created = await service.send({ method: 'POST', path, query: 'uploads', headers: create });
  const id = textOf(created.text, 'UploadId')!;
  const query = `uploadId=${id}`;
  const sent = await service.send({
    method: 'PUT',
    path,
    query: `partNumber=1&${query}`,
    headers: part,
    body: 'content',
  });
  const named = `<PartNumber>1</PartNumber><ETag>${sent.header('etag')}</ETag>${entry}`;
  const body = `<CompleteMultipartUpload><Part>${named}</Part></CompleteMultipartUpload>`;
  return service.send({ method: 'POST', path, query, headers, body });
}

const crc = crcOf('content');
const sha = shaOf('content');
const composite = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'COMPOSITE' };
const whole = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' };
const ofCrc = { part: { 'x-amz-checksum-crc32': crc }, entry: `<ChecksumCRC32>${crc}</ChecksumCRC32>` };
const compositeSha = {
  create: { 'x-amz-checksum-algorithm': 'SHA256' },
  part: { 'x-amz-checksum-sha256': sha },
  entry: `<ChecksumSHA256>${sha}</ChecksumSHA256>`,
};

describe('x-amz-checksum-type of CompleteMultipartUpload', () => {
  it.each([
    ['FULL_OBJECT', { create: composite, ...ofCrc }, {}],
    ['BOGUS', { create: composite, ...ofCrc }, {}],
    ['', { create: composite, ...ofCrc }, {}],
    ['COMPOSITE', { create: whole, ...ofCrc }, {}],
    ['COMPOSITE', { create: whole, ...ofCrc }, { 'x-amz-checksum-crc32': crc }],
    ['BOGUS', { create: whole, ...ofCrc }, { 'x-amz-checksum-crc32': crc }],
    ['FULL_OBJECT', compositeSha, {}],
    ['BOGUS', { create: {}, part: {}, entry: '' }, {}],
  ] as const)('that is %j, not the one of its creation, is refused: %j, with %j', async (type, of, more) => {
    expectError(await completed(of, { 'x-amz-checksum-type': type, ...more }), 400, 'BadDigest');
  });

  it.each([
    ['COMPOSITE', { create: composite, ...ofCrc }],
    ['FULL_OBJECT', { create: whole, ...ofCrc }],
    ['full_object', { create: whole, ...ofCrc }],
    ['COMPOSITE', compositeSha],
    ['FULL_OBJECT', { create: {}, part: {}, entry: '' }],
  ])('that is %j is accepted: %j', async (type, of) => {
    const answer = await completed(of, { 'x-amz-checksum-type': type });
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('the checksums of parts', () => {
  it.each([
    ['SHA256', compositeSha],
    ['CRC32, composite', { create: composite, ...ofCrc }],
  ])('must be named by the completion of a composite upload: %s', async (_, of) => {
    expectError(await completed({ ...of, entry: '' }, {}), 400, 'InvalidRequest');
    expect((await completed(of, {})).status).toBe(200);
  });

  it('need not be named where the object has one checksum, or no algorithm was named', async () => {
    expect((await completed({ create: whole, ...ofCrc, entry: '' }, {})).status).toBe(200);
    expect((await completed({ create: {}, part: compositeSha.part, entry: '' }, {})).status).toBe(200);
  });
});
