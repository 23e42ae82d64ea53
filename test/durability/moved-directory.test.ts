import { once } from 'node:events';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { alice, startService } from '../support/programs/server.ts';
import { patience } from '../support/runs/patience.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-moved-'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([['alone', []] as const, ['with workers', ['--workers', '2']] as const])(
  'a service whose directory is moved away ends with a line, and loses nothing that it answered: %s',
  async (name, args) => {
    const [data, moved] = [join(folder, name), join(folder, `${name}-moved`)];
    const service = await startService({ data, args });
    const exited = once(service.process, 'close');
    const client = sdk(service, alice, { maxAttempts: 1 });
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    const acknowledged: string[] = [];
    let isRunning = true;
    const writing = (async () => {
      for (let at = 0; isRunning; at += 1) {
        const [Key, Body] = [`key-${at}`, `value ${at} `.repeat(at % 2 === 0 ? 1 : 10_000)];
        const isWritten = await client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body })).then(
          () => true,
          () => false,
        );
        if (isWritten) acknowledged.push(Key);
      }
    })();
    await vi.waitUntil(() => acknowledged.length >= 20, { timeout: patience });
    await rename(data, moved);
    await exited;
    isRunning = false;
    await writing;
    client.destroy();
    expect(service.output.stderr).toMatch(/^stillage: \S.* was moved, replaced or removed; exiting: put it back, .+$/m);

    const next = await startService({ data: moved, args });
    const reader = sdk(next);
    for (const Key of acknowledged) {
      const { Body: body } = await reader.send(new GetObjectCommand({ Bucket: 'bucket', Key }));
      expect(await body!.transformToString()).toMatch(new RegExp(`^value ${Key.slice(4)} `));
    }
    reader.destroy();
    expect(await next.stop()).toBe(0);
  },
);
