import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { copyFile, cp, mkdir, mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { startService, type Service } from '../support/programs/server.ts';

const objects = 400;
const large = 'large';
const largeSize = 300_000;

let folder: string;
let sound: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  sound = join(folder, 'sound');
  const service = await startService({ data: sound });
  const client = sdk(service);
  await client.send(new CreateBucketCommand({ Bucket: 'photos' }));
  for (let start = 0; start < objects; start += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(client, `key-${start + at}`, bodyOf(start + at))));
  }
  await put(client, large, Buffer.alloc(largeSize, 'large'));
  client.destroy();
  expect(await service.stop()).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

const bodyOf = (index: number): string => `body of ${index} `.repeat(1 + (index % 50));
const put = (client: S3Client, Key: string, Body: string | Buffer): Promise<unknown> =>
  client.send(new PutObjectCommand({ Bucket: 'photos', Key, Body }));

/** A copy of the directory. */
async function copy(): Promise<string> {
  const data = await mkdtemp(join(folder, 'copy-'));
  await cp(sound, data, { recursive: true });
  return data;
}

const doctor = (data: string, ...args: string[]): Promise<Run> => runWarm(['doctor', '--data', data, ...args]);
const tableOf = (data: string): string => join(data, 'table', 'data.mdb');

/** Returns the body of an object, or the name of the error. */
async function answer(client: S3Client, key: string): Promise<string> {
  try {
    const { Body: body } = await client.send(new GetObjectCommand({ Bucket: 'photos', Key: key }));
    return await body!.transformToString();
  } catch (error) {
    return (error as Error).name;
  }
}

async function whileServed<T>(data: string, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService({ data });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

describe('stillage doctor', () => {
  it('finds a sound directory sound, and changes nothing', async () => {
    const { code, stdout, stderr } = await doctor(sound);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^examined \d+ pages with [\d,]+ items and \d+ small blobs: sound\n/);
    expect(stdout).toContain(`next: stillage scrub --content --data ${sound}`);
    const { findings, summary } = JSON.parse((await doctor(sound, '--json')).stdout) as Record<string, unknown>;
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ findings: 0, smallBlobs: objects });
  });

  it('refuses a directory that is served, and one that is none', async () => {
    const data = await copy();
    await whileServed(data, async () => {
      const { code, stderr } = await doctor(data);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: a service runs on [^\n]+\n$/)]);
    });
    const { code, stderr } = await doctor(join(folder, 'missing'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^stillage: --data: [^\n]+ is not a data directory[^\n]+\n$/),
    ]);
  });

  it('finds a table that was cut short, on which no service starts, and rescues the rest', async () => {
    const data = await copy();
    const { size } = await stat(tableOf(data));
    await truncate(tableOf(data), Math.floor(size * 0.9));
    const start = await runProgram(['start', '--port', '0', '--data', data]);
    expect(start.code).toBe(1);
    expect(start.stderr).toMatch(/^stillage: --data: [^\n]+ was cut short: it has \d+ of \d+ pages; [^\n]+doctor\n$/);

    const examined = await doctor(data);
    expect(examined.code).toBe(1);
    expect(examined.stdout).toMatch(/^page {2}\d+: it is beyond the end of the file; lost: .+$/m);
    expect(examined.stdout).toContain(`stillage doctor --data ${data} --rescue <new directory>`);
  });

  it('rescues everything beside a damaged page, byte for byte', async () => {
    const data = await copy();
    const damaged = await damageALeafOfItems(data);
    const target = join(folder, 'rescued');
    const rescued = await doctor(data, '--rescue', target);
    expect(rescued.stderr).toBe('');
    expect(rescued.code).toBe(1);
    expect(rescued.stdout).toMatch(
      new RegExp(`^page {2}${damaged}: it is not the page with this number; lost: items from `, 'm'),
    );
    expect(rescued.stdout).toContain(`next: stillage scrub --data ${target}`);

    await whileServed(target, async ({ url }) => {
      const client = sdk({ url });
      let kept = 0;
      for (let index = 0; index < objects; index += 1) {
        const found = await answer(client, `key-${index}`);
        if (found === bodyOf(index)) kept += 1;
        else expect(['NoSuchKey', 'InternalError']).toContain(found);
      }
      expect(kept).toBeGreaterThan(objects / 2);
      expect(kept).toBeLessThan(objects);
      client.destroy();
    });
  });

  it('rescues a sound directory whole: table, blobs and key file', async () => {
    const target = join(folder, 'whole');
    const { code, stdout } = await doctor(sound, '--rescue', target, '--json');
    expect(code).toBe(0);
    // The key, a blob, and the mark of the directory of blobs.
    expect((JSON.parse(stdout) as { summary: unknown }).summary).toMatchObject({ findings: 0, files: 3, filesLost: 0 });
    await whileServed(target, async ({ url }) => {
      const client = sdk({ url });
      for (let index = 0; index < objects; index += 1) expect(await answer(client, `key-${index}`)).toBe(bodyOf(index));
      expect(await answer(client, large)).toBe('large'.repeat(largeSize / 5));
      client.destroy();
    });
    const scrub = await runWarm(['scrub', '--content', '--data', target]);
    expect([scrub.code, scrub.stdout]).toEqual([0, expect.stringContaining('everything is consistent')]);
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    expect((await stat(join(target, 'master.key'))).mode & 0o777).toBe(0o600);
  });

  it('does not rescue into a directory with anything in it, nor into the damaged one', async () => {
    const target = await mkdtemp(join(folder, 'full-'));
    await copyFile(join(sound, 'master.key'), join(target, 'file'));
    expect((await doctor(sound, '--rescue', target)).stderr).toBe(
      `stillage: --rescue: ${target} is not empty: name a new directory\n`,
    );
    const within = join(sound, 'rescued');
    expect((await doctor(sound, '--rescue', within)).stderr).toContain(`is in ${sound}: name a directory outside it`);
    expect(await readdir(sound)).not.toContain('rescued');
  });

  it('finds a small blob, a key file and an engine page that are damaged', async () => {
    const data = await copy();
    await rm(join(data, 'master.key'));
    await flipIn(data, 'body of 7 ');
    const { code, stdout } = await doctor(data);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^key-file .*master\.key: it is missing, .*restore it from a backup$/m);
    expect(stdout).toMatch(/^small-blob {2}sm\S+: its bytes are not those that were written$/m);

    const other = await mkdtemp(join(folder, 'other-'));
    await mkdir(join(other, 'table'));
    await copyFile(join(sound, 'master.key'), tableOf(other));
    expect((await doctor(other)).stdout).toMatch(/^table-file .*: it is not a table; restore it from a backup$/m);
  });
});

/** Overwrites a leaf page of the items with zeros. Returns its number. */
async function damageALeafOfItems(data: string): Promise<number> {
  const pages = new Set((await placesOf(data, 'key-123')).map((at) => Math.floor(at / 4096)));
  const file = await open(tableOf(data), 'r+');
  try {
    // The key is in a small blob, the feed and pages out of use as well.
    for (const page of pages) {
      const bytes = Buffer.alloc(4096);
      await file.read(bytes, 0, 4096, page * 4096);
      await file.write(Buffer.alloc(4096), 0, 4096, page * 4096);
      const { stdout } = await doctor(data);
      if (new RegExp(`^page +${page}: .*; lost: items from `, 'm').test(stdout)) return page;
      await file.write(bytes, 0, 4096, page * 4096);
    }
  } finally {
    await file.close();
  }
  throw new Error('no page of items has the key');
}

async function flipIn(data: string, text: string): Promise<void> {
  const file = await open(tableOf(data), 'r+');
  for (const at of await placesOf(data, text)) await file.write(Buffer.from('B'), 0, 1, at);
  await file.close();
}

/** The offsets of a text in the table's file. */
async function placesOf(data: string, text: string): Promise<number[]> {
  const file = await open(tableOf(data));
  const bytes = await file.readFile();
  await file.close();
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}
