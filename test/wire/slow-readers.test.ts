import { GetObjectCommand } from '@aws-sdk/client-s3';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { put } from '../support/storage/objects.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

/** More than the buffers of two sockets hold. */
const size = 32 * 1024 * 1024;

describe.runIf(!isExternal)('a client that stops reading its response', () => {
  const service = serviceUnderTest({ args: ['--limit', 'readerIdle=2000'] });

  it('is not waited for', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', Buffer.alloc(size));
    const { hostname, port } = new URL(service.url);
    const reader = connect(Number(port), hostname);
    reader.on('error', () => undefined).pause();
    reader.write(requestBytes(signed(service.host, { path: `/${bucket}/key` }, { key: service.alice })));
    await eventually(() => {
      const ended = service.started!.requests().find(({ operation }) => operation === 'GetObject');
      expect(ended?.['bytesOut']).toBeLessThan(size);
    });
    reader.destroy();
  });

  it('may be as slow as it likes while it takes something', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', Buffer.alloc(size));
    const { Body } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
    let received = 0;
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      if (received < size / 4) await new Promise((resolve) => setTimeout(resolve, 20));
      received += chunk.byteLength;
    }
    expect(received).toBe(size);
  });
});
