import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LmdbTable } from '../../shared/adapters/embedded/table/lmdb-table.ts';
import { blobsBelow } from '../support/disks/blobs-on-disk.ts';
import { sdk } from '../support/clients/clients.ts';
import { put, read, setVersioning } from '../support/storage/objects.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

let folder: string;
let data: string;
let service: Service;
let client: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-scrub-'));
  data = join(folder, 'data');
  service = await startService({ data });
  client = sdk({ url: service.url }, alice, { maxAttempts: 1 });
  await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
  await setVersioning(client, 'bucket', 'Enabled');
  for (const text of ['one', 'two', 'three']) await put(client, 'bucket', 'key', text);
  await client.send(new DeleteObjectCommand({ Bucket: 'bucket', Key: 'key' }));
  await put(client, 'bucket', 'large', 'x'.repeat(1_000_000));
  const upload = await TestUpload.begin(client, 'bucket', 'parts');
  await upload.complete([await upload.part(1, 'content')]);
  await (await TestUpload.begin(client, 'bucket', 'open')).part(1, 'content');
});

afterAll(async () => {
  client.destroy();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const scrub = (...args: string[]): Promise<Run> => runWarm(['scrub', '--data', data, ...args]);

interface Report {
  readonly findings: readonly { readonly kind: string; readonly where: string; readonly state: string }[];
  readonly summary: { readonly items: number; readonly blobs: number; readonly counts: unknown };
}

describe('stillage scrub', () => {
  it('--status shows what the background scrub of the service has read', async () => {
    await expect
      .poll(async () => (await scrub('--status')).stdout)
      .toMatch(/^finished \S+Z: 0 blobs \(0 bytes\) read, 0 damaged\n$/);
    const { stdout } = await scrub('--status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ finished: { blobs: 0, damaged: 0, parts: { read: 257, of: 257 } } });
  });

  it('finds nothing wrong, while the service runs', async () => {
    await expectScrubClean(data);
    const { code, stdout } = await scrub('--json');
    const { findings, summary } = JSON.parse(stdout) as Report;
    expect({ code, findings }).toEqual({ code: 0, findings: [] });
    expect(summary.items).toBeGreaterThan(10);
    expect(summary.blobs).toBe((await blobsBelow(data)).length);
    // 3 versions, an object, a part of an object, a part of an upload.
    expect(summary.blobs).toBe(6);
  });

  it('finds a blob of nobody, leaves it while it may be work in progress, and removes it when told to', async () => {
    const before = await blobsBelow(data);
    const ref = `ab${'-'.repeat(8)}${'A'.repeat(20)}`;
    const orphan = join('ab', ref);
    await writeFile(join(data, 'blobs', orphan), 'never finished');

    expect(await scrub('--min-age', '36500d')).toMatchObject({ code: 0 });
    const looked = await scrub();
    expect(looked.code).toBe(1);
    expect(looked.stdout).toContain(`found  orphan-blob  blob ${ref}: `);
    expect(looked.stdout).toContain('1 × orphan-blob: bytes that no version, part or manifest refers to');
    expect(await blobsBelow(data)).toContain(ref);

    const mended = await scrub('--repair', '--json');
    expect(mended.code).toBe(1);
    expect((JSON.parse(mended.stdout) as Report).summary.counts).toEqual({ 'orphan-blob': { found: 1, mended: 1 } });
    expect(await blobsBelow(data)).toEqual(before);
    await expectScrubClean(data);
    expect(await read(client, 'bucket', 'large')).toBe('x'.repeat(1_000_000));
  });

  // It starts the program ten times.
  it('repairs nothing that a request may be writing, while a service runs', async () => {
    const own = join(folder, 'own');
    // The body waits while the program runs eight times.
    const running = await startService({ data: own, args: ['--limit', 'bodyIdle=600000'] });
    const writer = sdk({ url: running.url }, alice, { maxAttempts: 1 });
    await writer.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    const content = Buffer.alloc(1_000_000, 'in progress ');
    const host = new URL(running.url).host;
    const bytes = requestBytes(signed(host, { method: 'PUT', path: '/bucket/held', body: content }, { key: alice }));
    const connection = await RawConnection.open(running.url);
    connection.write(bytes.subarray(0, -1));
    await expect.poll(() => blobsBelow(own)).toHaveLength(1);

    const scrubOwn = (...args: string[]): Promise<Run> => runProgram(['scrub', '--data', own, ...args]);
    for (const age of ['0', '23h']) {
      expect(await scrubOwn('--repair', '--min-age', age)).toEqual({
        code: 1,
        signal: null,
        stdout: '',
        stderr:
          `stillage: process ${running.pid} uses ${own}, and may still be writing data of requests in progress; ` +
          'stop it first, or use --min-age 1d or more\n',
      });
    }
    const limited = await scrubOwn('--repair', '--min-age', '0', '--limit', 'requestDuration=90000');
    expect(limited.stderr).toContain('use --min-age 90s or more');
    expect(await scrubOwn('--repair', '--min-age', '1d')).toMatchObject({ code: 0 });
    const hour = ['--min-age', '1h', '--limit', 'requestDuration=3600000'];
    expect(await scrubOwn('--repair', ...hour)).toMatchObject({ code: 0 });
    expect(await scrubOwn('--min-age', '0')).toMatchObject({ stderr: '' });

    connection.write(bytes.subarray(-1));
    expect((await connection.response('PUT')).status).toBe(200);
    connection.close();
    expect(await read(writer, 'bucket', 'held')).toBe(content.toString());
    writer.destroy();
    await running.stop();
    expect(await scrubOwn('--repair', '--min-age', '0')).toMatchObject({ code: 0 });
  });

  it('reads the bytes if told to, and says which are damaged', async () => {
    expect(await scrub('--content', '--json')).toMatchObject({ code: 0 });
    const large = (await blobsBelow(data)).find((ref) => existsSync(join(data, 'blobs', ref.slice(0, 2), ref)))!;
    const path = join(data, 'blobs', large.slice(0, 2), large);
    const bytes = await readFile(path);
    await writeFile(
      path,
      bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
    );
    expect(await scrub()).toMatchObject({ code: 0 });
    const { code, stdout } = await scrub('--content');
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^lost {2}damaged-blob {2}blob ${large}, .* key large: .*has other bytes`, 'm'));
    expect(stdout).toContain('1 × damaged-blob: bytes that cannot be read, or are not those that were written');
    await writeFile(path, bytes);
  });

  it('compares a blob of a version without checksums with the MD5 of its object', async () => {
    const large = (await blobsBelow(data)).find((ref) => existsSync(join(data, 'blobs', ref.slice(0, 2), ref)))!;
    // An earlier version wrote the same file, with another character in its name.
    const former = `${large.slice(0, 2)}-${large.slice(3)}`;
    const path = join(data, 'blobs', large.slice(0, 2), former);
    await rename(join(data, 'blobs', large.slice(0, 2), large), path);
    const table = await LmdbTable.open(join(data, 'table'), { isFollowed: () => false });
    for await (const { key, attributes } of table.scan({ prefixes: ['head/'] })) {
      if (attributes['c'] !== `b${large}`) continue;
      await table.write([{ key, put: { ...attributes, c: `b${former}` } }]);
    }
    await table.close();

    expect(await scrub('--content', '--json')).toMatchObject({ code: 0 });
    const bytes = await readFile(path);
    await writeFile(
      path,
      bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
    );
    const { code, stdout } = await scrub('--content');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^lost {2}damaged-blob .* key large, .*blob ${former} does not match its MD5`, 'm'),
    );

    // A repair vouches for no bytes that do not match, and gives checksums to those that do.
    expect((await scrub('--content', '--repair')).stdout).not.toContain('got checksums');
    await writeFile(path, bytes);
    const repaired = await scrub('--content', '--repair');
    expect(repaired).toMatchObject({ code: 0 });
    expect(repaired.stdout).toContain('1 blob of earlier versions got checksums');
    expect((await scrub('--content', '--repair')).stdout).not.toContain('got checksums');
    await writeFile(
      path,
      bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
    );
    expect((await scrub('--content')).stdout).toMatch(/^lost {2}damaged-blob .* key large: .*has other bytes/m);
    await expect(read(client, 'bucket', 'large')).rejects.toThrow();
    await writeFile(path, bytes);
  });

  it('tells what is lost, and leaves it', async () => {
    expect(await service.stop()).toBe(0);
    const large = (await blobsBelow(data)).find((ref) => existsSync(join(data, 'blobs', ref.slice(0, 2), ref)))!;
    await truncate(join(data, 'blobs', large.slice(0, 2), large), 2000);
    const { code, stdout } = await scrub('--repair', '--min-age', '0', '--json');
    const { findings } = JSON.parse(stdout) as Report;
    expect(code).toBe(1);
    expect(findings.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['cut-blob lost']);
    expect(findings[0]!.where).toContain('key large');
    expect(await blobsBelow(data)).toHaveLength(6);
  });

  it.each([
    [['--min-age', '7'], 2, 'Must be a number followed by s, m, h or d'],
    [['--min-age', '7w'], 2, 'Must be a number followed by s, m, h or d'],
    [['--data', '/nowhere'], 1, '/nowhere is not a data directory'],
  ])('refuses %j', async (args, code, message) => {
    const run = await scrub(...args);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});
