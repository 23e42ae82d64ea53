import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { beforeAll, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import {
  exchange,
  RawConnection,
  requestBytes,
  type RawRequest,
  type RawResponse,
} from '../support/clients/raw-client.ts';
import { isExternal, isInspectable, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous, chunked, chunkedAndSigned, presigned, signed, type Unsigned } from '../support/clients/signer.ts';

const service = serviceUnderTest({ alone: true });
let bucket: string;
beforeAll(async () => {
  if (isInspectable) bucket = await service.lastingBucket();
});

const sign = (request: Unsigned, signing = {}): RawRequest =>
  signed(service.host, request, { key: service.alice, ...signing });
const send = (request: RawRequest): Promise<RawResponse> => exchange(service.url, request);

/** The lines of requests, as far as they have been written. */
async function requests(): Promise<readonly Record<string, unknown>[]> {
  const lines = (await service.log()).split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ message }) => message === 'request');
}

/** The line of a response, of which there must be one, and its fields without those that depend on the clock. */
async function lineOf(response: RawResponse): Promise<Record<string, unknown>> {
  const id = response.header('x-amz-request-id');
  const ofResponse = async () => (await requests()).filter(({ requestId }) => requestId === id);
  await expect.poll(async () => (await ofResponse()).length).toBe(1);
  // Who pays stands in the log of a deployment alone: the bill is made from it.
  const { time, milliseconds, level, message, requestId, payer: _, class: __, ...rest } = (await ofResponse())[0]!;
  expect({ level, message }).toEqual({ level: 'info', message: 'request' });
  expect(requestId).toBe(id);
  expect(Math.abs(Date.parse(time as string) - Date.now())).toBeLessThan(60_000);
  expect(milliseconds).toBeGreaterThanOrEqual(0);
  expect(milliseconds).toBeLessThan(60_000);
  return rest;
}

const byAlice = { project: 'main@example.test', user: 'alice' };

describe.runIf(isInspectable)('the log', () => {
  it('says in one line of JSON what a request was and what came of it', async () => {
    const bucket = service.freeName();
    const created = await send(sign({ method: 'PUT', path: `/${bucket}` }));
    expect(await lineOf(created)).toEqual({
      operation: 'CreateBucket',
      method: 'PUT',
      status: 200,
      ...byAlice,
      bucket,
      bytesIn: 0,
      bytesOut: 0,
    });
    const put = await send(sign({ method: 'PUT', path: `/${bucket}/key`, body: 'content' }));
    expect(await lineOf(put)).toMatchObject({ operation: 'PutObject', status: 200, bytesIn: 7, bytesOut: 0 });
    const got = await send(sign({ path: `/${bucket}/key` }));
    expect(await lineOf(got)).toMatchObject({ operation: 'GetObject', status: 200, bytesIn: 0, bytesOut: 7 });
    const part = await send(sign({ path: `/${bucket}/key`, headers: { range: 'bytes=1-3' } }));
    expect(await lineOf(part)).toMatchObject({ operation: 'GetObject', status: 206, bytesOut: 3 });
    const head = await send(sign({ method: 'HEAD', path: `/${bucket}/key` }));
    expect(await lineOf(head)).toMatchObject({ operation: 'HeadObject', method: 'HEAD', status: 200, bytesOut: 0 });
    const listed = await send(sign({ path: `/${bucket}`, query: 'list-type=2' }));
    expect(await lineOf(listed)).toMatchObject({ operation: 'ListObjectsV2', bytesOut: listed.body.length });
    const health = await send(anonymous(service.host, { path: '/_stillage/health' }));
    expect(await lineOf(health)).toMatchObject({ operation: 'GetHealth', status: 200 });
  });

  it('says why a request was refused', async () => {
    const absent = await send(sign({ path: `/${bucket}/absent` }));
    expect(await lineOf(absent)).toEqual({
      operation: 'GetObject',
      method: 'GET',
      status: 404,
      code: 'NoSuchKey',
      ...byAlice,
      bucket,
      bytesIn: 0,
      bytesOut: absent.body.length,
    });
    const stranger = await send(sign({ path: `/${bucket}/key` }, { key: service.bob }));
    expect(await lineOf(stranger)).toMatchObject({ status: 403, code: 'AccessDenied', project: 'other@example.test' });
    const unsigned = await send(anonymous(service.host, { path: `/${bucket}/key` }));
    expect(await lineOf(unsigned)).toEqual({
      operation: 'GetObject',
      method: 'GET',
      status: 403,
      code: 'AccessDenied',
      bucket,
      bytesIn: 0,
      bytesOut: unsigned.body.length,
    });
    const forged = await send(sign({ path: '/' }, { key: { ...service.alice, secretAccessKey: 'wrong' } }));
    expect(await lineOf(forged)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    const unknown = await send(sign({ path: '/' }, { key: { ...service.alice, accessKeyId: 'unknown' } }));
    expect(await lineOf(unknown)).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
    const elsewhere = await send(sign({ path: '/%zz' }));
    expect(await lineOf(elsewhere)).toMatchObject({ operation: 'Unknown', status: 400, code: 'InvalidURI' });
    const truncated = await send(
      sign({ method: 'PUT', path: `/${bucket}/key`, body: 'x' }, { payloadHash: '0'.repeat(64) }),
    );
    expect(await lineOf(truncated)).toMatchObject({ code: 'XAmzContentSHA256Mismatch', bytesIn: 1 });
  });

  it.runIf(!isExternal)('has a line of what is no HTTP, too', async () => {
    const connection = await RawConnection.open(service.url);
    connection.write('NONSENSE\r\n\r\n');
    const response = await connection.response();
    connection.close();
    expect(await lineOf(response)).toMatchObject({ operation: 'Unknown', status: 400, code: 'InvalidRequest' });
  });

  it.runIf(!isExternal)('counts the bytes of a download that its client gave up', async () => {
    await send(sign({ method: 'PUT', path: `/${bucket}/large`, body: Buffer.alloc(16 * 1024 * 1024) }));
    const downloads = async () => (await requests()).filter(({ operation }) => operation === 'GetObject');
    const before = (await downloads()).length;
    const connection = await RawConnection.open(service.url);
    connection.write(requestBytes(sign({ path: `/${bucket}/large` })));
    await expect(connection.interim()).rejects.toThrow('200 came');
    connection.close();
    await expect.poll(async () => (await downloads()).length).toBe(before + 1);
    const last = (await downloads()).at(-1)!;
    expect(last).toMatchObject({ status: 200 });
    expect(last['bytesOut']).toBeGreaterThan(0);
  });

  it.runIf(!isExternal)('has a line for every request and nothing else, and no secret in any', async () => {
    const secrets = new Set<string>([service.alice.secretAccessKey, service.bob.secretAccessKey]);
    const before = (await requests()).length;
    let count = 0;
    const note = async (request: RawRequest): Promise<void> => {
      const sent = requestBytes(request).toString('latin1');
      for (const [, signature] of sent.matchAll(/ignature[=:]([0-9a-f]{64})/g)) secrets.add(signature!);
      const credentials = new Map(request.headers).get('authorization');
      if (credentials !== undefined) secrets.add(credentials);
      count += 1;
      await send(request);
    };
    const upload = { method: 'PUT', path: `/${bucket}/key` };
    const wrong = { ...service.alice, secretAccessKey: 'a-wrong-secret-that-somebody-uses-elsewhere' };
    secrets.add(wrong.secretAccessKey);

    await note(sign({ path: `/${bucket}` }));
    await note(sign({ path: `/${bucket}` }, { key: wrong }));
    await note(sign({ ...upload, body: 'x' }, { key: wrong }));
    await note(presigned(service.host, { path: `/${bucket}/key` }, { key: service.alice }));
    await note(presigned(service.host, { ...upload, body: 'x' }, { key: service.alice }));
    await note(presigned(service.host, { path: `/${bucket}/key` }, { key: wrong }));
    await note(presigned(service.host, { path: `/${bucket}/absent` }, { key: service.alice }));
    await note(presigned(service.host, { path: `/${bucket}/key` }, { key: service.alice, time: Date.now() - 1e9 }));
    await note(
      anonymous(service.host, {
        path: `/${bucket}`,
        headers: { authorization: `AWS ${service.alice.accessKeyId}:c2VjcmV0` },
      }),
    );
    await note(
      anonymous(service.host, { path: `/${bucket}`, headers: { authorization: 'Bearer a-token-of-somebody' } }),
    );
    const token = 'a-session-token-of-somebody';
    secrets.add(token).add('a-token-of-somebody').add('c2VjcmV0');
    await note(sign({ path: `/${bucket}`, headers: { 'x-amz-security-token': token } }));
    await note(
      presigned(service.host, { path: `/${bucket}`, query: `X-Amz-Security-Token=${token}` }, { key: service.alice }),
    );
    const customerKey = Buffer.alloc(32, 'customer').toString('base64');
    secrets.add(customerKey);
    const encryption = {
      'x-amz-server-side-encryption-customer-algorithm': 'AES256',
      'x-amz-server-side-encryption-customer-key': customerKey,
      'x-amz-server-side-encryption-customer-key-md5': 'AAAA',
    };
    await note(sign({ ...upload, headers: encryption, body: 'x' }));

    for (const isRight of [true, false]) {
      const head = sign(
        { ...upload, headers: { 'x-amz-decoded-content-length': '7', 'transfer-encoding': 'chunked' }, body: '' },
        { payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' },
      ) as RawRequest & { seed: Parameters<typeof chunkedAndSigned>[0] };
      const body = chunkedAndSigned(head.seed, [isRight ? 'content' : 'another']);
      const framed = `${body.length.toString(16)}\r\n${body.toString()}\r\n0\r\n\r\n`;
      await note({ ...head, body: isRight ? framed : framed.replace('another', 'content') });
    }
    const trailing = { 'x-amz-decoded-content-length': '7', 'x-amz-trailer': 'x-amz-checksum-crc32' };
    const trailers = chunked(['content'], ['x-amz-checksum-crc32:AAAAAA==']);
    await note(
      sign({ ...upload, headers: trailing, body: trailers }, { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }),
    );

    await expect.poll(async () => (await requests()).length).toBe(before + count);
    const client = sdk(service);
    await client.send(new CreateBucketCommand({ Bucket: 'of-the-sdk' }));
    await client.send(new PutObjectCommand({ Bucket: 'of-the-sdk', Key: 'key', Body: 'content' }));
    await client.send(new HeadObjectCommand({ Bucket: 'of-the-sdk', Key: 'key' }));
    await client.send(new ListObjectsV2Command({ Bucket: 'of-the-sdk' }));
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'of-the-sdk', Key: 'key' }));
    secrets.add(new URL(url).searchParams.get('X-Amz-Signature')!);
    expect(await (await fetch(url)).text()).toBe('content');
    await client.send(new DeleteObjectCommand({ Bucket: 'of-the-sdk', Key: 'key' }));
    client.destroy();
    await expect.poll(async () => (await requests()).length).toBe(before + count + 6);

    const lines = service.started!.output.stdout.trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ message: 'request', level: 'info' });
    expect(service.started!.output.stderr.trimEnd().split('\n')).toEqual([`Stillage is listening on ${service.url}`]);
    expect(secrets.size).toBeGreaterThan(20);
    const written = service.started!.output.stdout + service.started!.output.stderr;
    for (const secret of secrets) expect(written).not.toContain(secret);
    expect(written).not.toMatch(/signature=|credential=|aws4-hmac|bearer/i);
  });
});
