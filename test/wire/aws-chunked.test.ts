import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { bucketName } from '../support/clients/clients.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { read, versionsOf } from '../support/storage/objects.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { chunked, signed, type Unsigned } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html, without signatures of chunks. */

const service = serviceUnderTest();

const content = 'some content in chunks';
const hash = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const name = 'x-amz-checksum-sha1';
const value = createHash('sha1').update(content).digest('base64');
const trailer = `${name}:${value}`;

let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect(await versionsOf(service.client, bucket)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

/** Sends a body unchanged, declared as chunks of the content. */
function send(body: string | Uint8Array, headers: Unsigned['headers'] = {}, payloadHash = hash): Promise<RawResponse> {
  const request: Unsigned = {
    method: 'PUT',
    path: `/${bucket}/key`,
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': String(content.length),
      ...headers,
    },
    body,
  };
  return service.send(request, { payloadHash });
}

async function expectUploaded(response: RawResponse, expected = content): Promise<void> {
  expect(response.status, response.text).toBe(200);
  expect(await read(service.client, bucket, 'key')).toBe(expected);
  expect((await service.send({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
}

const announced = { 'x-amz-trailer': name };

describe('aws-chunked framing', () => {
  it('is taken off', async () => {
    await expectUploaded(await send(chunked([content])));
    await expectUploaded(await send(chunked([content], [trailer]), announced));
    await expectUploaded(await send(chunked(content.split(''))));
  });

  it('is not an encoding of the object', async () => {
    for (const [sent, kept] of [
      ['aws-chunked', undefined],
      ['aws-chunked,gzip', 'gzip'],
      ['gzip, aws-chunked', 'gzip'],
      ['deflate, aws-chunked, gzip', 'deflate, gzip'],
      ['AWS-CHUNKED', undefined],
    ] as const) {
      const response = await send(chunked([content]), { 'content-encoding': sent });
      expect(response.status).toBe(200);
      const head = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
      expect(head.header('content-encoding')).toBe(kept);
      await expectUploaded(response);
    }
  });

  it.each([
    ['the hash alone', { 'content-encoding': null }, hash],
    ['the encoding alone, and the length', {}, 'UNSIGNED-PAYLOAD'],
    ['the decoded length alone', { 'content-encoding': null }, 'UNSIGNED-PAYLOAD'],
  ])('is recognised by %s', async (_, headers, payloadHash) => {
    await expectUploaded(await send(chunked([content]), headers, payloadHash));
  });

  // test_object_content_encoding_aws_chunked of https://github.com/ceph/s3-tests
  it('is not what a body has whose own hash is signed, whatever the encoding says', async () => {
    const digest = createHash('sha256').update(content).digest('hex');
    for (const encoding of ['aws-chunked', 'gzip, aws-chunked', 'aws-chunked, aws-chunked']) {
      const headers = { 'content-encoding': encoding, 'x-amz-decoded-content-length': null };
      await expectUploaded(await send(content, headers, digest));
    }
  });

  it('may be of an object of no bytes', async () => {
    const empty = { 'x-amz-decoded-content-length': '0' };
    await expectUploaded(await send('0\r\n\r\n', empty), '');
    await expectUploaded(await send('', empty), '');
  });

  it('may be sent with chunked transfer coding, without Content-Length', async () => {
    const framed = chunked([content], [trailer]).toString();
    const body = `${framed.length.toString(16)}\r\n${framed}\r\n0\r\n\r\n`;
    await expectUploaded(await send(body, { ...announced, 'transfer-encoding': 'chunked' }));
  });

  it('may arrive in any pieces', async () => {
    const body = chunked([content.slice(0, 10), content.slice(10)], [trailer]);
    const headers = {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': String(content.length),
      ...announced,
    };
    const request = signed(
      service.host,
      { method: 'PUT', path: `/${bucket}/key`, headers, body },
      { key: service.alice, payloadHash: hash },
    );
    for (const size of [1, 3, 7]) {
      const connection = await RawConnection.open(service.url);
      const { body: _, ...head } = request;
      connection.write(requestBytes(head));
      for (let at = 0; at < body.length; at += size) {
        connection.write(body.subarray(at, at + size));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await expectUploaded(await connection.response('PUT'));
      connection.close();
    }
  });

  it('may write its sizes in upper case and with zeros before them', async () => {
    await expectUploaded(await send(`0016\r\n${content}\r\n0000\r\n\r\n`));
    const long = 'x'.repeat(0xab);
    const length = { 'x-amz-decoded-content-length': String(0xab) };
    await expectUploaded(await send(`AB\r\n${long}\r\n0\r\n\r\n`, length), long);
  });
});

describe('aws-chunked framing that is broken', () => {
  const size = content.length.toString(16);

  it.each([
    ['no frames', content],
    ['a size that is too small', `2\r\n${content}\r\n0\r\n\r\n`],
    ['a size that is too large', `ff\r\n${content}\r\n0\r\n\r\n`],
    ['no last chunk', `${size}\r\n${content}\r\n`],
    ['no end of the last chunk', `${size}\r\n${content}\r\n0\r\n`],
    ['half of an end', `${size}\r\n${content}\r\n0\r\n\r`],
    ['no line break behind the data', `${size}\r\n${content}0\r\n\r\n`],
    ['bare line feeds', `${size}\n${content}\n0\n\n`],
    ['bytes behind the last chunk', `${size}\r\n${content}\r\n0\r\n\r\nmore`],
    ['another message behind it', `${size}\r\n${content}\r\n0\r\n\r\n0\r\n\r\n`],
    ['a size of 2^63', `8000000000000000\r\n${content}\r\n0\r\n\r\n`],
    ['a size of 2^64 and some', `10000000000000016\r\n${content}\r\n0\r\n\r\n`],
    ['a negative size', `-16\r\n${content}\r\n0\r\n\r\n`],
    ['a size with a plus', `+16\r\n${content}\r\n0\r\n\r\n`],
    ['a size with 0x', `0x16\r\n${content}\r\n0\r\n\r\n`],
    ['a size with blanks', ` 16 \r\n${content}\r\n0\r\n\r\n`],
    ['an empty size', `\r\n${content}\r\n0\r\n\r\n`],
    ['an unknown extension', `${size};name=value\r\n${content}\r\n0\r\n\r\n`],
    ['a size line of a megabyte', `${'0'.repeat(1024 * 1024)}16\r\n${content}\r\n0\r\n\r\n`],
    ['an empty body', ''],
  ])('is refused, and nothing is stored: %s', async (_, body) => {
    expectError(await send(body), 400, 'IncompleteBody');
  });

  it.each([1, 1_000_000])('is refused if the body is not as long as announced (%i bytes more)', async (more) => {
    const headers = { 'x-amz-decoded-content-length': String(content.length + more) };
    expectError(await send(chunked([content]), headers), 400, 'IncompleteBody');
  });

  it('is refused if the body is longer than announced', async () => {
    const headers = { 'x-amz-decoded-content-length': String(content.length - 1) };
    expectError(await send(chunked([content]), headers), 400, 'IncompleteBody');
  });

  it('is refused without the decoded length', async () => {
    const headers = { 'x-amz-decoded-content-length': null };
    expectError(await send(chunked([content]), headers), 411, 'MissingContentLength');
  });

  it.each(['-1', '1e3', 'many', '99999999999999999999'])('is refused with the decoded length %s', async (length) => {
    const headers = { 'x-amz-decoded-content-length': length };
    expectError(await send(chunked([content]), headers), 400, 'InvalidArgument');
  });
});

describe('trailers', () => {
  const other = createHash('sha1').update('other').digest('base64');

  it.each([
    ['missing', []],
    ['of another name', [`x-amz-checksum-sha256:${createHash('sha256').update(content).digest('base64')}`]],
    ['twice there', [trailer, trailer]],
    ['joined by another one', [trailer, 'x-amz-meta-a:b']],
    ['no base64', [`${name}:not base64!`]],
    ['too short', [`${name}:AAAA`]],
    ['empty', [`${name}:`]],
    ['no header', ['just text']],
    ['without a name', [`:${value}`]],
    ['very long', [`${name}:${'A'.repeat(17 * 1024)}`]],
  ])('are refused if they are %s', async (_, trailers) => {
    expectError(await send(chunked([content], trailers), announced), 400, 'MalformedTrailerError');
  });

  it('are refused if they were not announced', async () => {
    expectError(await send(chunked([content], [trailer])), 400, 'MalformedTrailerError');
  });

  it('are refused if they hold another checksum', async () => {
    expectError(await send(chunked([content], [`${name}:${other}`]), announced), 400, 'BadDigest');
  });

  it('may be written with blanks and in any case', async () => {
    await expectUploaded(await send(chunked([content], [`X-Amz-Checksum-SHA1: ${value} `]), announced));
  });

  it('may end as minio-go ends them', async () => {
    const body = Buffer.from(`${content.length.toString(16)}\r\n${content}\r\n0\r\n${trailer}\n\r\n\r\n`);
    await expectUploaded(await send(body, announced));
  });

  it.each(['x-amz-meta-a', 'content-type', 'x-amz-checksum-algorithm'])(
    'can only be checksums, not %s',
    async (announcedName) => {
      const response = await send(chunked([content], [trailer]), { 'x-amz-trailer': announcedName });
      expectError(response, 400, 'InvalidRequest');
    },
  );

  it('can be one only, and none beside the header', async () => {
    const two = await send(chunked([content], [trailer]), { 'x-amz-trailer': `${name},x-amz-checksum-crc32` });
    expectError(two, 400, 'InvalidRequest');
    const both = await send(chunked([content], [trailer]), { ...announced, [name]: value });
    expectError(both, 400, 'InvalidRequest');
  });

  it('need a body in chunks', async () => {
    const request = { method: 'PUT', path: `/${bucket}/key`, headers: announced, body: content };
    expectError(await service.send(request), 400, 'MalformedTrailerError');
  });
});
