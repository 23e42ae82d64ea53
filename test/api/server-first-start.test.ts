import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { exec } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../support/programs/program.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { keptOnDisk } from '../support/disks/kept-bytes.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-first-'));
});
afterEach(() => rm(data, { recursive: true }));

/** The settings that a start shows, by their names. */
function shownSettings({ output }: Service): Record<string, string> {
  const lines = output.stderr.matchAll(/^ *export (\w+)=(.*)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, value]) => [name!, value!]));
}

/** Returns the client that the SDK creates from an environment with only these settings. */
function clientOf(settings: Record<string, string>): S3Client {
  return new S3Client({
    endpoint: settings['AWS_ENDPOINT_URL']!,
    region: settings['AWS_DEFAULT_REGION']!,
    credentials: {
      accessKeyId: settings['AWS_ACCESS_KEY_ID']!,
      secretAccessKey: settings['AWS_SECRET_ACCESS_KEY']!,
    },
    forcePathStyle: true,
  });
}

/** That bytes stand nowhere in the data directory: as they are, or as a program might have written them. */
async function expectNowhere(secret: string): Promise<void> {
  const files = await keptOnDisk(data);
  expect(files.length).toBeGreaterThanOrEqual(2);
  const plain = Buffer.from(secret);
  const forms = [plain, Buffer.from(secret, 'utf16le'), plain.toString('base64'), plain.toString('hex')];
  for (const file of files) for (const form of forms) expect(file.includes(form)).toBe(false);
}

describe('the first start without declared accounts', () => {
  it('shows a key that works, once, and keeps its secret sealed', async () => {
    const outsideNpm = { npm_execpath: '' };
    let service = await startService({ data, accounts: false, env: outsideNpm });
    const settings = shownSettings(service);
    expect(settings).toEqual({
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^\w{16,}$/) as string,
      AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^\S{40,}$/) as string,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: service.url,
    });
    const client = clientOf(settings);
    await client.send(new CreateBucketCommand({ Bucket: 'first' }));
    await client.send(new PutObjectCommand({ Bucket: 'first', Key: 'key', Body: 'content' }));
    client.destroy();
    const secret = settings['AWS_SECRET_ACCESS_KEY']!;
    const [, again] = /To see them again: (.*)\n/.exec(service.output.stderr)!;
    expect((await promisify(exec)(again!)).stdout).toContain(secret);
    expect(service.output.stdout).not.toContain(secret);
    await expectNowhere(secret);
    expect(await service.stop()).toBe(0);
    await expectNowhere(secret);

    service = await startService({ data, accounts: false });
    expect(service.output.stderr).toContain(`Stillage is listening on ${service.url}\n`);
    expect(service.output.stderr).not.toContain(secret);
    await expect
      .poll(() => service.output.stderr)
      .toMatch(/^To see its keys: .*stillage(?:\.cjs)? key list main@local --data /m);
    const later = clientOf({ ...settings, AWS_ENDPOINT_URL: service.url });
    const { Body } = await later.send(new GetObjectCommand({ Bucket: 'first', Key: 'key' }));
    expect(await Body!.transformToString()).toBe('content');
    later.destroy();
    expect(await service.stop()).toBe(0);
  });

  it('keeps the key for a start that can listen', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failed = await runProgram(['start', '--port', String(port), '--data', data]);
    expect(failed.stderr).toBe(`stillage: port ${port} is taken; choose another one with --port\n`);
    other.close();
    const service = await startService({ data, accounts: false });
    expect(Object.keys(shownSettings(service))).toHaveLength(5);
    expect(await service.stop()).toBe(0);
  });
});

describe('a start with declared accounts', () => {
  it('makes and shows no key, and keeps their secrets sealed', async () => {
    const service = await startService({ data });
    expect(service.output.stderr).toBe(`Stillage is listening on ${service.url}\n`);
    expect(await service.stop()).toBe(0);
    for (const { secretAccessKey } of [alice, bob]) await expectNowhere(secretAccessKey);
    const later = await startService({ data, accounts: false });
    expect(later.output.stderr).toBe(`Stillage is listening on ${later.url}\n`);
    expect(await later.stop()).toBe(0);
  });
});
