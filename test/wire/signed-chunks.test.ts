import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { read, versionsOf } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import {
  chunked,
  chunkedAndSigned,
  neutralWords,
  presigned,
  signed,
  type Signing,
  type Unsigned,
} from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and …/sigv4-streaming-trailers.html */

const service = serviceUnderTest();

const chunks = ['some ', 'signed ', 'content'];
const content = chunks.join('');
const trailer = `x-amz-checksum-sha256:${createHash('sha256').update(content).digest('base64')}`;
const signedChunks = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
const signedTrailers = `${signedChunks}-TRAILER`;

let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect(await versionsOf(service.client, bucket)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

interface Fault {
  readonly payloadHash?: string;
  readonly chunks?: readonly string[];
  readonly trailers?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly signing?: Partial<Signing>;
  /** Modifies the body before it is sent. */
  readonly change?: (body: string) => string;
}

/** Sends an upload in signed chunks. */
function send(fault: Fault = {}): Promise<RawResponse> {
  const sent = fault.chunks ?? chunks;
  const unsigned: Unsigned = {
    method: 'PUT',
    path: `/${bucket}/key`,
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': String(sent.join('').length),
      ...(fault.trailers && { 'x-amz-trailer': 'x-amz-checksum-sha256' }),
      ...fault.headers,
    },
  };
  const payloadHash = fault.payloadHash ?? (fault.trailers ? signedTrailers : signedChunks);
  const head = signed(service.host, unsigned, { key: service.alice, payloadHash, ...fault.signing });
  const right = chunkedAndSigned(head.seed, sent, fault.trailers).toString('latin1');
  const body = Buffer.from(fault.change?.(right) ?? right, 'latin1');
  return exchange(service.url, {
    ...head,
    headers: [...head.headers, ['content-length', String(body.length)]],
    body,
  });
}

async function expectUploaded(response: RawResponse, expected = content): Promise<void> {
  expect(response.status, response.text).toBe(200);
  expect(await read(service.client, bucket, 'key')).toBe(expected);
  expect((await service.send({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
}

/** Gives every signature but the n-th back, and the n-th another first digit. */
function spoil(n: number): (body: string) => string {
  let count = 0;
  return (body) =>
    body.replace(/signature[=:]([0-9a-f])/g, (match, digit: string) =>
      ++count === n ? match.slice(0, -1) + (digit === '0' ? '1' : '0') : match,
    );
}

describe('a body in signed chunks', () => {
  it('is verified and stored', async () => {
    await expectUploaded(await send());
    await expectUploaded(await send({ chunks: [] }), '');
    await expectUploaded(await send({ chunks: ['x'.repeat(100_000)] }), 'x'.repeat(100_000));
  });

  it('may be signed in the neutral words', async () => {
    const signing = { words: neutralWords };
    await expectUploaded(await send({ signing, payloadHash: 'STREAMING-SVC4-HMAC-SHA256-PAYLOAD' }));
    const payloadHash = 'STREAMING-SVC4-HMAC-SHA256-PAYLOAD-TRAILER';
    await expectUploaded(await send({ signing, payloadHash, trailers: [trailer] }));
  });

  it.each([1, 2, 3, 4])('is refused for a wrong signature of chunk %i', async (n) => {
    expectError(await send({ change: spoil(n) }), 403, 'SignatureDoesNotMatch');
  });

  it.each([
    ['changed', (body: string) => body.replace('content', 'contend')],
    ['swapped', (body: string) => body.replace(/^(.*?\r\n.*?\r\n)(.*?\r\n.*?\r\n)/s, '$2$1')],
    ['left out', (body: string) => body.replace(/^.*?\r\n.*?\r\n/s, '')],
    ['repeated', (body: string) => body.replace(/^(.*?\r\n.*?\r\n)/s, '$1$1')],
  ])('is refused if a chunk was %s', async (_, change) => {
    const response = await send({ change });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.text).toMatch(/<Code>(?:SignatureDoesNotMatch|IncompleteBody)</);
  });

  it('is refused if a chunk has no signature', async () => {
    expectError(await send({ change: (body) => body.replace(/;chunk-signature=\w+/, '') }), 400, 'IncompleteBody');
  });

  it('is refused if it lacks the last chunk', async () => {
    expectError(await send({ change: (body) => body.replace(/0;chunk.*$/s, '') }), 400, 'IncompleteBody');
  });

  it('is refused if it is not in chunks', async () => {
    expectError(await send({ change: () => content }), 400, 'IncompleteBody');
  });
});

describe('the trailers of signed chunks', () => {
  it('are verified', async () => {
    await expectUploaded(await send({ trailers: [trailer] }));
  });

  it('are refused for a wrong signature', async () => {
    expectError(await send({ trailers: [trailer], change: spoil(5) }), 403, 'SignatureDoesNotMatch');
  });

  it('are refused without a signature', async () => {
    const change = (body: string) => body.replace(/x-amz-trailer-signature:\w+\r\n/, '');
    expectError(await send({ trailers: [trailer], change }), 400, 'MalformedTrailerError');
  });

  it('are refused if they were changed', async () => {
    const change = (body: string) => body.replace(/x-amz-checksum-sha256:.{4}/, 'x-amz-checksum-sha256:AAAA');
    expectError(await send({ trailers: [trailer], change }), 403, 'SignatureDoesNotMatch');
  });

  it('are refused if they hold another checksum than that of the body', async () => {
    const other = `x-amz-checksum-sha256:${createHash('sha256').update('other').digest('base64')}`;
    expectError(await send({ trailers: [other] }), 400, 'BadDigest');
  });

  it('are refused if they are missing', async () => {
    expectError(await send({ trailers: [] }), 400, 'MalformedTrailerError');
  });
});

/** An unsigned body says nothing about the request, whose signature is still verified. */
describe('a forged signature over chunks that are not signed', () => {
  const headers = {
    'content-encoding': 'aws-chunked',
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'x-amz-decoded-content-length': String(content.length),
  };
  const forger = () => ({ ...service.alice, secretAccessKey: 'guessed' });
  const body = chunked(chunks);

  it.each(['PutObject', 'UploadPart'])('is refused in the header of %s', async (operation) => {
    const upload = await TestUpload.begin(service.client, bucket);
    const query = operation === 'UploadPart' ? `partNumber=1&uploadId=${upload.id}` : '';
    const request = { method: 'PUT', path: `/${bucket}/key`, query, headers, body };
    const payloadHash = headers['x-amz-content-sha256'];
    expectError(await service.send(request, { key: forger(), payloadHash }), 403, 'SignatureDoesNotMatch');
    expectError(await service.sendPresigned(request, { key: forger() }), 403, 'SignatureDoesNotMatch');
    expect((await service.client.send(new ListPartsCommand(upload.target))).Parts).toBeUndefined();
    await service.client.send(new AbortMultipartUploadCommand(upload.target));
  });

  it('is refused in the query where the hash is only a parameter', async () => {
    const { 'x-amz-content-sha256': hash, ...others } = headers;
    const request = { method: 'PUT', path: `/${bucket}/key`, headers: others, body };
    const parameters = { 'X-Amz-Content-Sha256': hash };
    const forged = presigned(service.host, request, { key: forger(), parameters });
    expectError(await exchange(service.url, forged), 403, 'SignatureDoesNotMatch');
  });

  it('is refused where nobody signed at all', async () => {
    const response = await service.sendUnsigned({ method: 'PUT', path: `/${bucket}/key`, headers, body });
    expectError(response, 403, 'AccessDenied');
    const signedByNobody = { ...headers, 'x-amz-content-sha256': signedChunks };
    const other = await service.sendUnsigned({ method: 'PUT', path: `/${bucket}/key`, headers: signedByNobody, body });
    expectError(other, 400, 'InvalidRequest');
  });
});
