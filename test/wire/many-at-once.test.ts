import { describe, expect, it } from 'vitest';
import { isCloud } from '../support/cloud/deployed.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed } from '../support/clients/signer.ts';

/** Requests and chunks that cost their sender a few bytes each. */

const service = serviceUnderTest();

describe('a body of tiny chunks', () => {
  const tiny = (chunks: number): string => '1\r\na\r\n'.repeat(chunks) + '0\r\n\r\n';
  const upload = (body: string, headers: Readonly<Record<string, string>>, bucket: string) =>
    service.send(
      { method: 'PUT', path: `/${bucket}/key`, headers: { 'transfer-encoding': 'chunked', ...headers }, body },
      { payloadHash: 'UNSIGNED-PAYLOAD' },
    );

  it.skipIf(isCloud)('is refused, whoever sends it, once their number is absurd', async () => {
    const bucket = await service.bucket();
    expectError(await upload(tiny(10_000), {}, bucket), 403, 'InvalidChunkSizeError');
    expect((await service.send({ path: `/${bucket}/key` })).status).toBe(404);
    expect((await upload(tiny(1000), {}, bucket)).status).toBe(200);
  });

  it('is refused in aws-chunked, too', async () => {
    const bucket = await service.bucket();
    const body = tiny(10_000);
    const request = {
      method: 'PUT',
      path: `/${bucket}/key`,
      headers: { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '10000' },
      body,
    };
    const response = await service.send(request, { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' });
    expectError(response, 403, 'InvalidChunkSizeError');
    expect((await service.send({ path: `/${bucket}/key` })).status).toBe(404);
  });
});

// CloudFront and API Gateway take the connections of the cloud.
describe.skipIf(isCloud)('requests sent at once on one connection', () => {
  it('are all answered in their order', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const get = requestBytes(signed(service.host, { method: 'GET', path: `/${bucket}/key` }, { key: service.alice }));
    const none = requestBytes(signed(service.host, { method: 'GET', path: `/${bucket}/no` }, { key: service.alice }));
    const connection = await RawConnection.open(service.url);
    connection.write(Buffer.concat(Array.from({ length: 300 }, () => Buffer.concat([get, none]))));
    for (let pair = 0; pair < 300; pair += 1) {
      expect((await connection.response('GET')).text).toBe('content');
      expect((await connection.response('GET')).status).toBe(404);
    }
    connection.close();
  });

  it('are not carried out once their client has gone', async () => {
    const bucket = await service.bucket();
    const puts = Array.from({ length: 1000 }, (_, at) =>
      requestBytes(
        signed(service.host, { method: 'PUT', path: `/${bucket}/${at}`, body: 'x' }, { key: service.alice }),
      ),
    );
    const connection = await RawConnection.open(service.url);
    await connection.sent(Buffer.concat(puts));
    connection.reset();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { text } = await service.send({ path: `/${bucket}`, query: 'list-type=2' });
    expect(text.split('<Key>').length - 1).toBeLessThan(500);
  });
});
