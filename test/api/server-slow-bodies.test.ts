import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

const idle = 600;
const service = serviceUnderTest({ args: ['--limit', `bodyIdle=${idle}`] });

/** Sends a request without the last byte of its body, and awaits the response. */
async function stall(request: Unsigned, missing = 1): Promise<{ response: RawResponse; waited: number }> {
  const connection = await RawConnection.open(service.url);
  connection.write(requestBytes(signed(service.host, request, { key: service.alice })).subarray(0, -missing));
  const started = Date.now();
  const response = await connection.response(request.method);
  connection.close();
  return { response, waited: Date.now() - started };
}

describe.runIf(!isExternal)('a body that stands still', () => {
  it.each([
    ['an object', 1, 300],
    ['a large object', 1, 1_000_000],
    ['an object of which nothing came', 300, 300],
  ])('is given up, and nothing of it is kept: %s', async (_, missing, size) => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const request = { method: 'PUT', path: `/${bucket}/key`, body: Buffer.alloc(size, 'content ') };
    const { response, waited } = await stall(request, missing);
    expectError(response, 400, 'RequestTimeout');
    expect(waited).toBeGreaterThan(idle / 2);
    expect(response.header('connection')).toBe('close');
    expectError(await service.send({ path: `/${bucket}/key` }), 404, 'NoSuchKey');
    await blobs.expectCount(0);
  });

  it('leaves what was there before as it was', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/key`;
    await service.send({ method: 'PUT', path, body: 'content' });
    const { response } = await stall({ method: 'PUT', path, body: 'another content' });
    expectError(response, 400, 'RequestTimeout');
    expect((await service.send({ path })).text).toBe('content');
  });

  it('may be a document', async () => {
    const bucket = await service.bucket();
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    const { response } = await stall({ method: 'PUT', path: `/${bucket}`, query: 'versioning', body });
    expectError(response, 400, 'RequestTimeout');
    const { text } = await service.send({ path: `/${bucket}`, query: 'versioning' });
    expect(text).not.toContain('Enabled');
  });

  it('is another one than a body that is slow', async () => {
    const bucket = await service.bucket();
    const connection = await RawConnection.open(service.url);
    const request = { method: 'PUT', path: `/${bucket}/key`, body: 'slowly' };
    const bytes = requestBytes(signed(service.host, request, { key: service.alice }));
    connection.write(bytes.subarray(0, -6));
    for (const byte of 'slowly') {
      await sleep(idle / 3);
      connection.write(byte);
    }
    expect((await connection.response()).status).toBe(200);
    connection.close();
    expect((await service.send({ path: `/${bucket}/key` })).text).toBe('slowly');
  });

  it('is logged as one whose client went away, if it did', async () => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const connection = await RawConnection.open(service.url);
    const request = { method: 'PUT', path: `/${bucket}/key`, body: Buffer.alloc(500_000) };
    connection.write(requestBytes(signed(service.host, request, { key: service.alice })).subarray(0, -1000));
    await sleep(100);
    connection.close();
    const lines = () =>
      service.started!.requests().filter((line) => line['bucket'] === bucket && line['operation'] === 'PutObject');
    await expect.poll(() => lines().length).toBe(1);
    expect(lines()[0]).toMatchObject({ status: 400, code: 'IncompleteBody' });
    await eventually(() => blobs.expectCount(0));
  });
});

describe.runIf(!isExternal)('a body that drips', () => {
  const impatient = serviceUnderTest({ args: ['--limit', 'bodyGrace=700,bodyRate=100'] });

  /** Sends a body bit by bit, as long as the service wants it. */
  async function drip(body: Buffer, step: number): Promise<RawResponse> {
    const bucket = await impatient.bucket();
    const connection = await RawConnection.open(impatient.url);
    const request = { method: 'PUT', path: `/${bucket}/key`, body };
    connection.write(requestBytes(signed(impatient.host, request, { key: impatient.alice })).subarray(0, -body.length));
    let answered = false;
    const response = connection.response('PUT').finally(() => {
      answered = true;
    });
    for (let at = 0; at < body.length && !answered; at += step) {
      connection.write(body.subarray(at, at + step));
      await sleep(100);
    }
    const answer = await response;
    connection.close();
    return answer;
  }

  it('is given up, though it never stands still for long', async () => {
    expectError(await drip(Buffer.alloc(1000), 1), 400, 'RequestTimeout');
  });

  it('is no body that comes slowly, and fast enough', async () => {
    expect((await drip(Buffer.alloc(5000), 500)).status).toBe(200);
  });
});
