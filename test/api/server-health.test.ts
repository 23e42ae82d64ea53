import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/expect-error.ts';
import type { RawResponse } from '../support/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/service-under-test.ts';

const path = '/_stillage/health';
/** A busy machine may take a while to write and read a line. */
const patience = { timeout: 10_000 };

const service = serviceUnderTest({ alone: true });
const ask = (method = 'GET'): Promise<RawResponse> => service.sendUnsigned({ method, path });

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

  it.runIf(!isExternal)(
    'is not good while the blobs are gone, which the log explains and the answer does not',
    async () => {
      const { data, output } = service.started!;
      await rename(join(data, 'blobs'), join(data, 'elsewhere'));
      const response = await ask();
      expectError(response, 500, 'InternalError');
      expect(response.text).not.toContain(data);
      expect((await ask('HEAD')).status).toBe(500);
      await expect.poll(() => output.stdout, patience).toContain('ENOENT');

      await rename(join(data, 'elsewhere'), join(data, 'blobs'));
      expect((await ask()).status).toBe(200);
    },
  );
});
