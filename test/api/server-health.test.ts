import { execFile } from 'node:child_process';
import { rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous } from '../support/clients/signer.ts';
import { maySmallDisk, noSmallDisk, onSmallDisk } from '../support/disks/small-disk.ts';

const path = '/_stillage/health';
const run = promisify(execFile);

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
    for (const path of ['/_stillage/health', '/_stillage/live'])
      for (const method of ['PUT', 'POST', 'DELETE'])
        expectError(await service.sendUnsigned({ method, path }), 405, 'MethodNotAllowed');
  });

  it('of the process alone is told to everybody', async () => {
    const live = { path: '/_stillage/live' };
    const response = await service.sendUnsigned(live);
    expect([response.status, response.header('content-type')]).toEqual([200, 'application/json']);
    expect(JSON.parse(response.text)).toEqual({ status: 'ok' });
    const head = await service.sendUnsigned({ ...live, method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  it.runIf(!isExternal)(
    'says while the disk is full or read-only that nothing can be written, and GET goes on',
    async (context) => {
      if (!maySmallDisk) context.skip(noSmallDisk);
      const { started, inside, send } = await onSmallDisk();
      const health = async (): Promise<unknown> => {
        const response = await exchange(started.url, anonymous(new URL(started.url).host, { path }));
        return [response.status, JSON.parse(response.text) as unknown];
      };
      const object = { method: 'PUT', path: '/full/object', body: Buffer.from('kept') };
      expect((await send({ method: 'PUT', path: '/full' })).status).toBe(200);
      expect((await send(object)).status).toBe(200);
      expect(await health()).toEqual([200, { status: 'ok' }]);

      const filler = inside('filler');
      await expect(writeFile(filler, Buffer.alloc(64 * 1024 * 1024))).rejects.toThrow('ENOSPC');
      expect(await health()).toEqual([200, { status: 'ok', writable: false }]);
      const large = { method: 'PUT', path: '/full/large', body: Buffer.alloc(1024 * 1024) };
      expectError(await send(large), 503, 'SlowDown');
      expect((await send({ path: '/full/object' })).text).toBe('kept');
      await truncate(filler, 0);
      expect(await health()).toEqual([200, { status: 'ok' }]);
      expect((await send(object)).status).toBe(200);

      const blobs = join(started.data, 'blobs');
      const enter = ['-t', String(started.pid), '--user', '--mount', 'mount'];
      await run('nsenter', [...enter, '--bind', blobs, blobs]);
      await run('nsenter', [...enter, '-o', 'remount,bind,ro', blobs]);
      expect(await health()).toEqual([200, { status: 'ok', writable: false }]);
      expect((await send({ path: '/full/object' })).text).toBe('kept');
    },
  );

  it.runIf(!isExternal)(
    'is not good while the blobs are gone, which the log explains and the answer does not',
    async () => {
      const { data, output } = service.started!;
      await rename(join(data, 'blobs'), join(data, 'elsewhere'));
      const response = await ask();
      expectError(response, 500, 'InternalError');
      expect(response.text).not.toContain(data);
      expect((await ask('HEAD')).status).toBe(500);
      expect((await service.sendUnsigned({ path: '/_stillage/live' })).status).toBe(200);
      await expect.poll(() => output.stdout).toContain('ENOENT');

      await rename(join(data, 'elsewhere'), join(data, 'blobs'));
      expect((await ask()).status).toBe(200);
    },
  );
});
