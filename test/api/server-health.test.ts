import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/expect-error.ts';
import { exchange, type RawResponse } from '../support/raw-client.ts';
import { startService, type Service } from '../support/server.ts';
import { anonymous } from '../support/signer.ts';

const path = '/_stillage/health';
/** A busy machine may take a while to write and read a line. */
const patience = { timeout: 10_000 };

let data: string;
let service: Service;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-health-'));
  const started = performance.now();
  service = await startService({ data });
  expect((await ask()).status).toBe(200);
  console.log(`first answer ${Math.round(performance.now() - started)} ms after the start`);
});
afterAll(async () => {
  await service.stop();
  await rm(data, { recursive: true });
});

async function ask(method = 'GET'): Promise<RawResponse> {
  return exchange(service.url, anonymous(new URL(service.url).host, { method, path }));
}

describe('the health of the service', () => {
  it('is told to everybody', async () => {
    const response = await ask();
    expect([response.status, response.header('content-type')]).toEqual([200, 'application/json']);
    expect(JSON.parse(response.text)).toEqual({ status: 'ok' });
    expect(response.header('x-amz-request-id')).toMatch(/^tx/);
    const head = await ask('HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  it('can only be asked for', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) expectError(await ask(method), 405, 'MethodNotAllowed');
  });

  it('is not good while the blobs are gone, which the log explains and the answer does not', async () => {
    await rename(join(data, 'blobs'), join(data, 'elsewhere'));
    const response = await ask();
    expectError(response, 500, 'InternalError');
    expect(response.text).not.toContain(data);
    expect((await ask('HEAD')).status).toBe(500);
    await expect.poll(() => service.output.stdout, patience).toContain('ENOENT');

    await rename(join(data, 'elsewhere'), join(data, 'blobs'));
    expect((await ask()).status).toBe(200);
  });
});
