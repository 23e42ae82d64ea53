import { truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { maySmallDisk, noSmallDisk, onSmallDisk } from '../support/small-disk.ts';
import type { Unsigned } from '../support/signer.ts';

const MiB = 1024 * 1024;

describe('a disk that is full', { timeout: 120_000 }, () => {
  it('has the bytes of deleted objects freed, whatever their grace, before the next write', async (context) => {
    if (!maySmallDisk) context.skip(noSmallDisk);
    const { started, inside, send } = await onSmallDisk(['--release-grace', '1h']);
    const object = (key: string): Unsigned => ({
      method: 'PUT',
      path: `/full/${key}`,
      body: Buffer.alloc(6 * MiB, 'x'),
    });
    expect((await send({ method: 'PUT', path: '/full' })).status).toBe(200);
    for (const key of ['a', 'b', 'c']) expect((await send(object(key))).status).toBe(200);
    for (const key of ['a', 'b']) expect((await send({ method: 'DELETE', path: `/full/${key}` })).status).toBe(204);
    // HEAD of a bucket follows the feed first: the bytes are due in an hour.
    expect((await send({ method: 'HEAD', path: '/full' })).status).toBe(200);
    const filler = writeFile(inside('filler'), Buffer.alloc(64 * MiB));
    await expect(filler).rejects.toThrow('ENOSPC');

    const refused = await send(object('d'));
    expect([refused.status, refused.header('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    // The files are gone without an operator, and there is room for as much as they held.
    await vi.waitFor(async () => expect((await send(object('d'))).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    });
    expect((await send({ path: '/full/c' })).body.equals(Buffer.alloc(6 * MiB, 'x'))).toBe(true);
    expect(started.output.stdout).not.toMatch(/"status":500/);
  });

  it('has writes into the table told to slow down, which are done once there is room', async (context) => {
    if (!maySmallDisk) context.skip(noSmallDisk);
    const { started, inside, send } = await onSmallDisk();
    const tags = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
    const writes: readonly Unsigned[] = [
      { method: 'PUT', path: '/full/small', body: Buffer.alloc(20_000, 'x') },
      { method: 'PUT', path: '/full', query: 'tagging', body: tags },
      { method: 'PUT', path: '/another' },
      { method: 'POST', path: '/full/parts', query: 'uploads' },
      { method: 'DELETE', path: '/full/none' },
    ];
    expect((await send({ method: 'PUT', path: '/full' })).status).toBe(200);
    expect((await send({ method: 'PUT', path: '/full/kept', body: 'kept' })).status).toBe(200);
    const filler = writeFile(inside('filler'), Buffer.alloc(64 * MiB));
    await expect(filler).rejects.toThrow('ENOSPC');
    const refusals: (string | undefined)[] = [];
    for (let round = 0; round < 20; round += 1) {
      for (const write of writes) {
        const answer = await send(write);
        expect([200, 204, 503], answer.text).toContain(answer.status);
        if (answer.status === 503) refusals.push(answer.header('retry-after'));
      }
    }
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals).toEqual(refusals.map(() => expect.stringMatching(/^\d+$/) as string));
    expect((await send({ path: '/full/kept' })).text).toBe('kept');
    await truncate(inside('filler'), 0);
    for (const write of writes)
      await vi.waitFor(async () => expect((await send(write)).status).toBeLessThan(300), { timeout: 30_000 });
    expect((await send({ path: '/full/kept' })).text).toBe('kept');
    expect(started.output.stdout).not.toMatch(/"status":500/);
  });
});
