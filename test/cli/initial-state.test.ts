import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { startService, type Service, type ServiceOptions } from '../support/programs/server.ts';

let folder: string;
const running: Service[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
  await rm(folder, { recursive: true });
});

async function start(options: ServiceOptions): Promise<Service> {
  const service = await startService({ data: join(folder, 'data'), accounts: false, ...options });
  running.push(service);
  return service;
}

const key = { STILLAGE_ACCESS_KEY: 'TESTER', STILLAGE_SECRET_KEY: 'the secret of the tester' };

async function bucketsOf({ url }: Service, accessKeyId = 'TESTER'): Promise<unknown> {
  const credentials = { accessKeyId, secretAccessKey: key.STILLAGE_SECRET_KEY };
  const client = new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, credentials });
  const { Buckets: buckets } = await client.send(new ListBucketsCommand({}));
  client.destroy();
  return buckets?.map(({ Name }) => Name);
}

describe('the environment of a start', () => {
  it('names a key and buckets, which are created if they are missing', async () => {
    const first = await start({ env: { ...key, STILLAGE_BUCKETS: 'photos, backups' } });
    expect(await bucketsOf(first)).toEqual(['backups', 'photos']);
    // No other key was made.
    expect(first.output.stderr).not.toContain('AWS_SECRET_ACCESS_KEY');
    await first.stop();
    const second = await start({ env: { ...key, STILLAGE_BUCKETS: 'photos,logs' } });
    expect(await bucketsOf(second)).toEqual(['backups', 'logs', 'photos']);
  });

  it('may name the key as AWS does, if that is asked for', async () => {
    const env = { AWS_ACCESS_KEY_ID: 'OFAWS', AWS_SECRET_ACCESS_KEY: key.STILLAGE_SECRET_KEY };
    const service = await start({ env, args: ['--aws-credentials', '--buckets', 'photos'] });
    expect(await bucketsOf(service, 'OFAWS')).toEqual(['photos']);
  });

  it('has buckets made for the key of the first start, too', async () => {
    const service = await start({ env: { STILLAGE_BUCKETS: 'photos' } });
    const [, accessKeyId = ''] = /AWS_ACCESS_KEY_ID=(\S+)/.exec(service.output.stderr) ?? [];
    const [, secretAccessKey = ''] = /AWS_SECRET_ACCESS_KEY=(\S+)/.exec(service.output.stderr) ?? [];
    const client = new S3Client({
      endpoint: service.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    const { Buckets: buckets } = await client.send(new ListBucketsCommand({}));
    client.destroy();
    expect(buckets?.map(({ Name }) => Name)).toEqual(['photos']);
  });

  it('is refused in a line if the directory knows the key with another secret', async () => {
    const first = await start({ env: key });
    await first.stop();
    const args = ['start', '--port', '0', '--data', join(folder, 'data')];
    const { code, stderr } = await runProgram(args, { env: { ...key, STILLAGE_SECRET_KEY: 'another' } });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^stillage: .*the access key TESTER exists with another secret.*\n$/) as string,
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ STILLAGE_ACCESS_KEY: 'TESTER' }, /^stillage: STILLAGE_ACCESS_KEY needs STILLAGE_SECRET_KEY as well.*\n$/],
    [{ STILLAGE_SECRET_KEY: 'secret' }, /^stillage: STILLAGE_SECRET_KEY needs STILLAGE_ACCESS_KEY as well.*\n$/],
    [{ ...key, STILLAGE_ACCESS_KEY: 'a b' }, /^stillage: STILLAGE_ACCESS_KEY: accessKeyId: must be printable.*\n$/],
    [{ STILLAGE_BUCKETS: 'No_Bucket' }, /^error: option '--buckets <name>' value 'No_Bucket' .*\n$/],
    [{ STILLAGE_AWS_CREDENTIALS: 'true', AWS_ACCESS_KEY_ID: '' }, /^stillage: --aws-credentials: set AWS_.*\n$/],
  ])('is refused in a line: %j', async (env, line) => {
    const { code, stderr } = await runWarm(['start', '--port', '0', '--ephemeral'], env);
    expect(stderr).toMatch(line);
    expect(code).toBe(stderr.startsWith('error: ') ? 2 : 1);
  });
});

describe('--ephemeral', () => {
  it('keeps nothing, and says so in the log, on standard error and in the health', async () => {
    const service = await start({ args: ['--ephemeral', '--buckets', 'photos'], env: key });
    expect(await (await fetch(`${service.url}/_stillage/health`)).json()).toMatchObject({ ephemeral: true });
    expect(await bucketsOf(service)).toEqual(['photos']);
    expect(await readdir(folder)).toEqual([]);
    await service.stop();
    expect(service.output.stderr).toContain('EPHEMERAL: all data is in memory');
    expect(service.output.stdout).toContain('EPHEMERAL: all data is in memory');
  });

  it('shows a new key, and no command for later, when it is gone', async () => {
    const service = await start({ args: ['--ephemeral'] });
    await service.stop();
    expect(service.output.stderr).toContain('Created a project, a user and an access key.\n');
    expect(service.output.stderr).toContain('export AWS_SECRET_ACCESS_KEY=');
  });

  it('is refused in a line together with workers', async () => {
    const { code, stderr } = await runWarm(['start', '--port', '0', '--ephemeral', '--workers', '2']);
    expect(stderr).toMatch(/^stillage: --ephemeral cannot be used with --workers: .*\n$/);
    expect(code).toBe(2);
  });

  it('is never the default', async () => {
    const service = await start({});
    expect(await (await fetch(`${service.url}/_stillage/health`)).json()).not.toHaveProperty('ephemeral');
    expect(service.output.stderr).not.toContain('EPHEMERAL');
  });
});

describe('--ready-file', () => {
  it('has the endpoint once the service answers, and goes with it', async () => {
    const ready = join(folder, 'ready');
    const service = await start({ args: ['--ready-file', ready, '--ephemeral'] });
    expect(await readFile(ready, 'utf8')).toBe(`${service.url}\n`);
    await service.stop();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused in a line if it cannot be written', async () => {
    const args = ['start', '--port', '0', '--ephemeral', '--ready-file', join(folder, 'missing/ready')];
    const { code, stderr } = await runProgram(args);
    expect(stderr).toMatch(/^stillage: --ready-file: cannot write .*\n$/m);
    expect(code).toBe(1);
  });
});

describe('the program without a command', () => {
  it('starts the service', async () => {
    const { code, stderr } = await runProgram([], { env: { STILLAGE_EPHEMERAL: 'true', STILLAGE_BUCKETS: 'No' } });
    expect(stderr).toMatch(/^error: option '--buckets <name>' value 'No' /);
    expect(code).toBe(2);
    expect((await runProgram(['--port', '70000'])).stderr).toMatch(/Must be a port number, from 0 to 65535/);
  });
});
