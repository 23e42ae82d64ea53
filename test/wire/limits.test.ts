import { describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, versionsOf } from '../support/storage/objects.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { chunked, signed, type Unsigned } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** https://docs.aws.amazon.com/general/latest/gr/s3.html#limits_s3 */

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

const service = serviceUnderTest();

describe('user metadata', () => {
  const upload = (bucket: string, headers: Record<string, string>) =>
    service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: '' });

  it('has at most 2 KB, names and values together, without the prefix', async () => {
    const bucket = await service.bucket();
    const fits = { 'x-amz-meta-ab': 'v'.repeat(1022), 'x-amz-meta-cd': 'v'.repeat(1022) };
    expect((await upload(bucket, fits)).status).toBe(200);
    const response = await upload(bucket, { ...fits, 'x-amz-meta-e': '' });
    expectError(response, 400, 'MetadataTooLarge');
    expect(textOf(response.text, 'MaxSizeAllowed')).toBe('2048');
    const started = await service.send({
      method: 'POST',
      path: `/${bucket}/key`,
      query: 'uploads',
      headers: { 'x-amz-meta-a': 'v'.repeat(2048) },
    });
    expectError(started, 400, 'MetadataTooLarge');
  });

  it('returns the bytes it was given', async () => {
    const bucket = await service.bucket();
    const utf8 = Buffer.from('Käse €').toString('latin1');
    const encoded = '=?UTF-8?Q?K=C3=A4se?=';
    await upload(bucket, { 'x-amz-meta-utf8': utf8, 'x-amz-meta-encoded': encoded, 'x-amz-meta-latin': 'K\xe4se' });
    const { header } = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
    expect(header('x-amz-meta-utf8')).toBe(utf8);
    expect(header('x-amz-meta-encoded')).toBe(encoded);
    expect(header('x-amz-meta-latin')).toBe('K\xe4se');
  });

  it('may have names that mean something elsewhere', async () => {
    const bucket = await service.bucket();
    const names = ['__proto__', 'constructor', 'toString', 'content-type', 'a_b.c!', '1'];
    await upload(bucket, Object.fromEntries(names.map((name) => [`x-amz-meta-${name}`, name])));
    const { header } = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
    for (const name of names) expect(header(`x-amz-meta-${name.toLowerCase()}`)).toBe(name);
  });
});

describe('the header section', () => {
  it('has at most 8 KB', async () => {
    const bucket = await service.bucket();
    const withPadding = (size: number) =>
      service.send({ path: `/${bucket}`, headers: { 'x-padding': 'x'.repeat(size) } });
    expect((await withPadding(7 * KiB)).status).toBe(200);
    const response = await withPadding(8 * KiB);
    expectError(response, 400, 'RequestHeaderSectionTooLarge');
    expect(textOf(response.text, 'MaxSizeAllowed')).toBe(String(8 * KiB));
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`x-padding-${n}`, 'x']));
    expectError(await service.send({ path: `/${bucket}`, headers: many }), 400, 'RequestHeaderSectionTooLarge');
    const empty = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`x${n}`, '']));
    expectError(await service.sendUnsigned({ path: '/', headers: empty }), 400, 'RequestHeaderSectionTooLarge');
  });

  it('is refused in the same words where it is far too long', async () => {
    const headers = { 'x-padding': 'x'.repeat(100 * KiB) };
    const response = await service.sendUnsigned({ path: '/', headers });
    expect(response.status).toBe(400);
    expect(textOf(response.text, 'Code')).toBe('RequestHeaderSectionTooLarge');
  });
});

describe('a target', () => {
  it('has at most 16 KB', async () => {
    const bucket = await service.bucket();
    const longest = `/${bucket}?prefix=`;
    const query = `prefix=${'x'.repeat(16 * KiB - longest.length)}`;
    expect((await service.send({ path: `/${bucket}`, query })).status).toBe(200);
    expectError(await service.send({ path: `/${bucket}`, query: `${query}x` }), 400, 'InvalidURI');
  });
});

describe('one upload', () => {
  /** Sends only the head: a request that is refused because of it need not send five gigabytes. */
  async function head(unsigned: Unsigned, payloadHash = 'UNSIGNED-PAYLOAD'): Promise<RawResponse> {
    const request = signed(service.host, { method: 'PUT', ...unsigned }, { key: service.alice, payloadHash });
    const connection = await RawConnection.open(service.url);
    connection.write(requestBytes(request));
    const response = await connection.response('PUT');
    connection.close();
    return response;
  }

  it('has at most 5 GiB, whichever way it says so', async () => {
    const bucket = await service.bucket();
    const size = String(5 * GiB + 1);
    const upload = await TestUpload.begin(service.client, bucket, 'parts');
    for (const [path, query] of [
      [`/${bucket}/key`, ''],
      [`/${bucket}/parts`, `partNumber=1&uploadId=${upload.id}`],
    ] as const) {
      const response = await head({ path, query, headers: { 'content-length': size } });
      expectError(response, 400, 'EntityTooLarge');
      expect(textOf(response.text, 'ProposedSize')).toBe(size);
      expect(textOf(response.text, 'MaxSizeAllowed')).toBe(String(5 * GiB));
      const headers = { 'transfer-encoding': 'chunked', 'x-amz-decoded-content-length': size };
      const decoded = await head({ path, query, headers }, 'STREAMING-UNSIGNED-PAYLOAD-TRAILER');
      expectError(decoded, 400, 'EntityTooLarge');
    }
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });
});

describe('a document', () => {
  const blanks = (size: number, document: string) => document + ' '.repeat(size - document.length);
  const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  const deletion = '<Delete><Object><Key>key</Key></Object></Delete>';

  it('of a configuration has at most 1 MiB', async () => {
    const bucket = await service.bucket();
    const send = (size: number) =>
      service.send({ method: 'PUT', path: `/${bucket}`, query: 'versioning', body: blanks(size, versioning) });
    const response = await send(MiB + 1);
    expectError(response, 400, 'MaxMessageLengthExceeded');
    expect(textOf(response.text, 'MaxMessageLengthBytes')).toBe(String(MiB));
    expect((await service.send({ path: `/${bucket}`, query: 'versioning' })).text).not.toContain('Enabled');
    expect((await send(MiB)).status).toBe(200);
  });

  it('of DeleteObjects is measured as it comes if its length is not said', async () => {
    const bucket = await service.bucket();
    const body = blanks(2 * MiB + 1, deletion);
    const request = {
      method: 'POST',
      path: `/${bucket}`,
      query: 'delete',
      headers: { 'transfer-encoding': 'chunked' },
      body: `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    };
    const response = await service.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' });
    expectError(response, 400, 'MaxMessageLengthExceeded');
  });

  it('of DeleteObjects has at most 2 MiB', async () => {
    const bucket = await service.bucket();
    const send = (size: number) =>
      service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body: blanks(size, deletion) });
    expectError(await send(2 * MiB + 1), 400, 'MaxMessageLengthExceeded');
    expect((await send(2 * MiB)).status).toBe(200);
  });

  it('of CompleteMultipartUpload has at most 4 MiB', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket);
    const part = await upload.part(1, 'x');
    const document =
      '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>' +
      `<ETag>${part.ETag}</ETag></Part></CompleteMultipartUpload>`;
    const send = (size: number) =>
      service.send({
        method: 'POST',
        path: `/${bucket}/key`,
        query: `uploadId=${upload.id}`,
        body: blanks(size, document),
      });
    expectError(await send(4 * MiB + 1), 400, 'MaxMessageLengthExceeded');
    expect((await send(4 * MiB)).status).toBe(200);
  });

  it('that means nothing has at most 1 MiB, and must be what was signed', async () => {
    const bucket = await service.bucket();
    const send = (size: number) => service.send({ path: `/${bucket}`, body: 'x'.repeat(size) });
    expect((await send(MiB)).status).toBe(200);
    expectError(await send(MiB + 1), 400, 'MaxMessageLengthExceeded');
  });
});

/** Limits that cannot be reached in a test are lowered. */
describe.runIf(takesSettings)('lowered limits', () => {
  const lowered = serviceUnderTest({
    args: [
      '--limit',
      'singleUploadBytes=1000,objectBytes=1500,bodyIdle=300,requestDuration=2000,minimumPartBytes=10,keysPerDelete=2',
    ],
  });

  it('hold for an upload of unknown length, and nothing of it stays', async () => {
    const bucket = await lowered.bucket();
    const send = (size: number) => {
      const framed = chunked(['x'.repeat(size)]).toString();
      const request = {
        method: 'PUT',
        path: `/${bucket}/key`,
        headers: { 'transfer-encoding': 'chunked' },
        body: `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
      };
      expect(framed.length).toBeGreaterThan(size);
      return lowered.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' });
    };
    const response = await send(1001);
    expectError(response, 400, 'EntityTooLarge');
    expect(textOf(response.text, 'MaxSizeAllowed')).toBe('1000');
    expect(await versionsOf(lowered.client, bucket)).toEqual([]);
    expect((await send(1000)).status).toBe(200);
  });

  it('hold for the object that parts make', async () => {
    const bucket = await lowered.bucket();
    const upload = await TestUpload.begin(lowered.client, bucket);
    const parts = [await upload.part(1, 'x'.repeat(1000)), await upload.part(2, 'x'.repeat(501))];
    await expect(upload.complete(parts)).rejects.toMatchObject({ name: 'EntityTooLarge' });
    await upload.complete([parts[0]!, await upload.part(2, 'x'.repeat(500))]);
  });

  it('end a body that stands still', async () => {
    const bucket = await lowered.bucket();
    const request = signed(
      lowered.host,
      { method: 'PUT', path: `/${bucket}/key`, headers: { 'content-length': '100' } },
      { key: lowered.alice, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const connection = await RawConnection.open(lowered.url);
    connection.write(requestBytes({ ...request, body: 'the beginning' }));
    const response = await connection.response('PUT');
    expectError(response, 400, 'RequestTimeout');
    connection.close();
    expect(await versionsOf(lowered.client, bucket)).toEqual([]);
  });

  it('let a slow body through as long as it moves', async () => {
    const bucket = await lowered.bucket();
    const body = '0123456789';
    const request = signed(lowered.host, { method: 'PUT', path: `/${bucket}/key`, body }, { key: lowered.alice });
    const connection = await RawConnection.open(lowered.url);
    connection.write(requestBytes({ ...request, body: '' }));
    for (const digit of body) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      connection.write(digit);
    }
    expect((await connection.response('PUT')).status).toBe(200);
    connection.close();
  });

  it('end a request that takes too long altogether', async () => {
    const connection = await RawConnection.open(lowered.url);
    connection.write('GET / HTTP/1.1\r\nhost: x\r\n');
    expectError(await connection.response(), 408, 'RequestTimeout');
    expect(await connection.closedWithin(30_000)).toBe(true);
    connection.close();
  });

  it('hold for the objects that one request may delete', async () => {
    const bucket = await lowered.bucket();
    const remove = (...keys: string[]) =>
      lowered.send({
        method: 'POST',
        path: `/${bucket}`,
        query: 'delete',
        body: `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`,
      });
    expect((await remove('a', 'b')).status).toBe(200);
    expectError(await remove('a', 'b', 'c'), 400, 'MalformedXML');
  });

  it('leave other requests alone', async () => {
    const client = sdk({ url: lowered.url });
    const bucket = await lowered.bucket();
    await put(client, bucket, 'key', 'x'.repeat(1000));
    client.destroy();
    const response = await exchange(
      lowered.url,
      signed(lowered.host, { path: `/${bucket}/key` }, { key: lowered.alice }),
    );
    expect(response.body.length).toBe(1000);
  });
});
