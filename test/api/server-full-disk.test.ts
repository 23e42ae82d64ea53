import { rm, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exchange } from '../support/clients/raw-client.ts';
import { alice } from '../support/programs/server.ts';
import { maySmallDisk, noSmallDisk, onSmallDisk } from '../support/disks/small-disk.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

const MiB = 1024 * 1024;

describe('a disk that is full', () => {
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
    await eventually(async () => expect((await send(object('d'))).status).toBe(200));
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
    for (const write of writes) await eventually(async () => expect((await send(write)).status).toBeLessThan(300));
    expect((await send({ path: '/full/kept' })).text).toBe('kept');
    expect(started.output.stdout).not.toMatch(/"status":500/);
  });

  it.for(['1', '2'])('can be read by a service that starts on it, with %s processes', async (workers, context) => {
    if (!maySmallDisk) context.skip(noSmallDisk);
    const { started, inside, send, startAgain, command } = await onSmallDisk();
    const kept = Buffer.alloc(MiB, 'kept');
    expect((await send({ method: 'PUT', path: '/full' })).status).toBe(200);
    expect((await send({ method: 'PUT', path: '/full/kept', body: kept })).status).toBe(200);
    await expect(writeFile(inside('filler'), Buffer.alloc(64 * MiB))).rejects.toThrow('ENOSPC');
    let again = started;
    const ask = (request: Unsigned) => exchange(again.url, signed(new URL(again.url).host, request, { key: alice }));
    // Each start and each end find the table as full as the one before has left it.
    for (let round = 0; round < 3; round += 1) {
      for (let refused = 0; refused < 20;) {
        const path = `/full/${round}-${refused}`;
        const { status } = await ask({ method: 'PUT', path, body: Buffer.alloc(round === 0 ? 20_000 : 10, 'x') });
        expect([200, 503]).toContain(status);
        if (status === 503) refused += 1;
      }
      await again.kill();
      again = await startAgain(['--workers', workers]);
    }
    // Some of the smallest changes find a free page.
    let created = await command('customer', 'create', 'acme');
    for (let number = 1; created.code === 0 && number < 100; number += 1)
      created = await command('customer', 'create', `acme-${number}`);
    // Now there is none, not even for the name of the next service.
    await again.kill();
    // If a part of a page still fits, the engine calls it an input/output error.
    const said =
      /^stillage: the table cannot be written: (?:No space left on device|Input\/output error): make room on its disk, .*\n$/m;
    const withBucket = await command('start', '--port', '0', '--workers', workers, '--buckets', 'new');
    expect([withBucket.code, withBucket.stderr]).toEqual([1, expect.stringMatching(said)]);
    expect(withBucket.stderr).not.toMatch(/^ +at /m);
    again = await startAgain(['--workers', workers]);
    expect((await ask({ path: '/full/kept' })).body.equals(kept)).toBe(true);
    const refused = await ask({ method: 'PUT', path: '/full/new', body: 'new' });
    expect([refused.status, refused.text.includes('<Code>SlowDown</Code>')]).toEqual([503, true]);
    expect([created.code, created.stderr]).toEqual([1, expect.stringMatching(said)]);
    expect(created.stderr).not.toMatch(/^ +at /m);
    // It needs room to forget what it has freed, and there is nothing to free.
    const released = await command('release');
    expect(released.stderr).toMatch(released.code === 0 ? /^/ : said);
    expect(released.stderr).not.toMatch(/^ +at |^\{/m);
    const second = await startAgain().catch((error: unknown) => error);
    expect(String(second)).toContain('stop it first, or use another directory');
    expect(await again.stop()).toBe(0);
    const compacted = await command('compact');
    expect([compacted.code, compacted.stderr]).toEqual([1, expect.stringMatching(/^stillage: .*make room/m)]);
    expect(compacted.stderr).not.toMatch(/^ +at /m);

    const last = await startAgain(['--workers', workers]);
    await truncate(inside('filler'), 0);
    const put = signed(new URL(last.url).host, { method: 'PUT', path: '/full/new', body: 'new' }, { key: alice });
    await eventually(async () => expect((await exchange(last.url, put)).status).toBe(200));
    expect((await command('release')).code).toBe(0);
    expect(await last.stop()).toBe(0);
  });

  it('refuses in one line what needs a lock file that is gone', async (context) => {
    if (!maySmallDisk) context.skip(noSmallDisk);
    const { started, inside, send, command, startAgain } = await onSmallDisk();
    expect((await send({ method: 'PUT', path: '/full' })).status).toBe(200);
    expect(await started.stop()).toBe(0);
    await rm(inside('table/lock.mdb'));
    await expect(writeFile(inside('filler'), Buffer.alloc(64 * MiB))).rejects.toThrow('ENOSPC');
    for (const words of [
      ['bucket', 'list'],
      ['start', '--port', '0'],
    ]) {
      const { code, stderr } = await command(...words);
      const said = /^stillage: --data: cannot use [^\n]*there is no room for [^\n]*: make room on its disk\n$/;
      expect([words, code, stderr]).toEqual([words, 1, expect.stringMatching(said)]);
    }
    await truncate(inside('filler'), 0);
    expect(await (await startAgain()).stop()).toBe(0);
  });
});
