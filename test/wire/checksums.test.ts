import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumAlgorithms, checksumOf } from '../support/bytes/checksums.ts';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { chunked } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html */

const service = serviceUnderTest();
const content = '123456789';

let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect(await versionsOf(service.client, bucket)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

/** Uploads the content with these headers. */
function upload(headers: Record<string, string>, body = content): Promise<RawResponse> {
  return service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body });
}

async function remove(): Promise<void> {
  expect((await service.send({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
}

const headerOf = (algorithm: string): string => `x-amz-checksum-${algorithm.toLowerCase()}`;

/** The published check values of the algorithms, of the text 123456789. */
it('the checksums of these tests are the right ones', () => {
  expect(Object.fromEntries(checksumAlgorithms.map((one) => [one, checksumOf(one, '123456789')]))).toMatchObject({
    CRC32: Buffer.from('cbf43926', 'hex').toString('base64'),
    CRC32C: Buffer.from('e3069283', 'hex').toString('base64'),
    CRC64NVME: Buffer.from('ae8b14860a799888', 'hex').toString('base64'),
  });
});

describe.each(checksumAlgorithms)('a checksum of %s', (algorithm) => {
  const name = headerOf(algorithm);
  const value = checksumOf(algorithm, content);

  it('in the header is verified, kept and returned', async () => {
    const response = await upload({ [name]: value });
    expect(response.status, response.text).toBe(200);
    expect(response.header(name)).toBe(value);
    expect(response.header('x-amz-checksum-type')).toBe('FULL_OBJECT');
    for (const method of ['GET', 'HEAD']) {
      const asked = { 'x-amz-checksum-mode': 'ENABLED' };
      const shown = await service.send({ method, path: `/${bucket}/key`, headers: asked });
      expect(shown.header(name)).toBe(value);
      expect(shown.header('x-amz-checksum-type')).toBe('FULL_OBJECT');
      const quiet = await service.send({ method, path: `/${bucket}/key` });
      expect(quiet.header(name)).toBeUndefined();
      const ranged = await service.send({ method, path: `/${bucket}/key`, headers: { ...asked, range: 'bytes=0-1' } });
      expect([ranged.status, ranged.header(name)]).toEqual([206, undefined]);
    }
    await remove();
  });

  it('in a trailer is verified, kept and returned', async () => {
    const request = {
      method: 'PUT',
      path: `/${bucket}/key`,
      headers: { 'x-amz-decoded-content-length': String(content.length), 'x-amz-trailer': name },
      body: chunked([content], [`${name}:${value}`]),
    };
    const response = await service.send(request, { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' });
    expect(response.status, response.text).toBe(200);
    expect(response.header(name)).toBe(value);
    await remove();
  });

  it('that does not match is refused', async () => {
    expectError(await upload({ [name]: checksumOf(algorithm, 'other') }), 400, 'BadDigest');
  });

  it.each(['', 'AAAA', 'not base64', `${value}=`, `${value.slice(0, -4)}`, '!'.repeat(value.length)])(
    'that is none is refused: "%s"',
    async (wrong) => {
      const response = await upload({ [name]: wrong });
      expectError(response, 400, 'InvalidRequest');
      expect(textOf(response.text, 'Message')).toBe(`Value for ${name} header is invalid.`);
    },
  );

  it('covers an empty body, too', async () => {
    const response = await upload({ [name]: checksumOf(algorithm, '') }, '');
    expect(response.status, response.text).toBe(200);
    await remove();
  });
});

describe('checksums', () => {
  it.each(['md5', 'sha512', 'xxhash64', 'xxhash3', 'xxhash128', 'anything'])(
    'that cannot be verified are refused, not ignored: %s',
    async (algorithm) => {
      expectError(await upload({ [headerOf(algorithm)]: 'AAAA' }), 400, 'InvalidRequest');
    },
  );

  it('are one at a time', async () => {
    const headers = {
      [headerOf('CRC32')]: checksumOf('CRC32', content),
      [headerOf('SHA1')]: checksumOf('SHA1', content),
    };
    expectError(await upload(headers), 400, 'InvalidRequest');
  });

  it('must follow when an SDK says that they will', async () => {
    expectError(await upload({ 'x-amz-sdk-checksum-algorithm': 'CRC32' }), 400, 'InvalidRequest');
    const response = await upload({
      'x-amz-sdk-checksum-algorithm': 'CRC32',
      [headerOf('CRC32')]: checksumOf('CRC32', content),
    });
    expect(response.status).toBe(200);
    await remove();
  });

  it('are computed where the client sends none', async () => {
    const response = await upload({});
    expect(response.header(headerOf('CRC64NVME'))).toBe(checksumOf('CRC64NVME', content));
    await remove();
  });

  it('of documents are verified as well', async () => {
    const body = '<Delete><Object><Key>key</Key></Object></Delete>';
    const send = (value: string) =>
      service.send({
        method: 'POST',
        path: `/${bucket}`,
        query: 'delete',
        headers: { [headerOf('SHA256')]: value },
        body,
      });
    expect((await send(checksumOf('SHA256', body))).status).toBe(200);
    expectError(await send(checksumOf('SHA256', 'other')), 400, 'BadDigest');
  });
});

describe('Content-MD5', () => {
  const md5 = (text: string) => createHash('md5').update(text).digest('base64');

  it('is verified, and not returned', async () => {
    const response = await upload({ 'content-md5': md5(content) });
    expect(response.status, response.text).toBe(200);
    expect((await service.send({ path: `/${bucket}/key` })).header('content-md5')).toBeUndefined();
    await remove();
  });

  it('that does not match is refused', async () => {
    const response = await upload({ 'content-md5': md5('other') });
    expectError(response, 400, 'BadDigest');
    expect(textOf(response.text, 'ExpectedDigest')).toBe(md5('other'));
    expect(textOf(response.text, 'CalculatedDigest')).toBe(md5(content));
  });

  it.each(['', 'not base64', 'AAAA', `${md5(content)}=`, Buffer.alloc(17).toString('base64'), 'f'.repeat(32)])(
    'that is none is refused: "%s"',
    async (wrong) => {
      expectError(await upload({ 'content-md5': wrong }), 400, 'InvalidDigest');
    },
  );

  it('of documents and parts is verified as well', async () => {
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    const wrong = { 'content-md5': md5('other') };
    for (const [method, query, body] of [
      ['PUT', 'versioning', versioning],
      ['POST', 'delete', '<Delete><Object><Key>key</Key></Object></Delete>'],
    ] as const) {
      const request = { method, path: `/${bucket}`, query, headers: wrong, body };
      expectError(await service.send(request), 400, 'BadDigest');
    }
    const { text } = await service.send({ method: 'POST', path: `/${bucket}/key`, query: 'uploads' });
    const query = `partNumber=1&uploadId=${textOf(text, 'UploadId')}`;
    const part = { method: 'PUT', path: `/${bucket}/key`, query, headers: wrong, body: content };
    expectError(await service.send(part), 400, 'BadDigest');
  });
});
