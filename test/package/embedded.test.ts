import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  GetBucketVersioningCommand,
  HeadObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { allStartOptions } from '../../shared/command-line/option.ts';
import { startStillage, type Stillage, type StillageOptions } from '../../local/package/index.ts';
import { readOptions } from '../../local/package/options.ts';

const started: Stillage[] = [];
const clients: S3Client[] = [];

async function start(options: StillageOptions = {}): Promise<{ stillage: Stillage; client: S3Client }> {
  const stillage = await startStillage({ port: 0, ephemeral: true, buckets: ['photos'], ...options });
  started.push(stillage);
  const client = new S3Client({ ...stillage.clientConfig, maxAttempts: 1 });
  clients.push(client);
  return { stillage, client };
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

const photo = { Bucket: 'photos', Key: 'a/ä.jpg' };
const put = (client: S3Client, body: string | Uint8Array = 'bytes'): Promise<unknown> =>
  client.send(new PutObjectCommand({ ...photo, Body: body }));
const get = async (client: S3Client): Promise<string> =>
  (await client.send(new GetObjectCommand(photo))).Body!.transformToString();
const expectError = (request: Promise<unknown>, name: string, httpStatusCode: number): Promise<void> =>
  expect(request).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
const bucketsOf = async (client: S3Client): Promise<unknown> =>
  (await client.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name);

describe('startStillage', () => {
  it('gives what a client of the SDK takes, and the variables of other programs', async () => {
    const { stillage, client } = await start();
    await put(client);
    expect(await get(client)).toBe('bytes');
    expect(stillage.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(stillage.env).toEqual({
      AWS_ACCESS_KEY_ID: stillage.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: stillage.credentials.secretAccessKey,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: stillage.endpoint,
      AWS_ENDPOINT_URL_S3: stillage.endpoint,
    });
  });

  it('runs many services in one process, none of which knows the others', async () => {
    const worlds = await Promise.all(Array.from({ length: 10 }, () => start()));
    expect(new Set(worlds.map(({ stillage }) => stillage.endpoint)).size).toBe(10);
    await Promise.all(worlds.map(({ client }, index) => put(client, `service ${index}`)));
    expect(await Promise.all(worlds.map(({ client }) => get(client)))).toEqual(
      worlds.map((_, index) => `service ${index}`),
    );
    const stranger = new S3Client({ ...worlds[0]!.stillage.clientConfig, endpoint: worlds[1]!.stillage.endpoint });
    clients.push(stranger);
    await expectError(stranger.send(new ListBucketsCommand({})), 'InvalidAccessKeyId', 403);
  });

  it('prints nothing, handles no signals, and leaves no files', async () => {
    const writes = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    const handlers = (): number[] => ['SIGTERM', 'SIGINT', 'exit'].map((event) => process.listenerCount(event));
    const before = { handlers: handlers(), files: await ourFiles() };
    const { stillage, client } = await start();
    await put(client, new Uint8Array(3 * 1024 * 1024));
    expect({ handlers: handlers(), files: await ourFiles() }).toEqual(before);
    await stillage.stop();
    expect(await ourFiles()).toEqual(before.files);
    const printed = writes.flatMap((spy) => spy.mock.calls.map(([text]) => String(text)));
    for (const spy of writes) spy.mockRestore();
    expect(printed).toEqual([]);
  });

  it('stops when it is disposed of, once and for all', async () => {
    const { stillage } = await start();
    await stillage[Symbol.asyncDispose]();
    await stillage.stop();
    await expect(fetch(stillage.endpoint)).rejects.toThrow();
    await expect(stillage.reset()).rejects.toThrow('stopped');
  });

  it('says in its health, and in its log if somebody listens, that nothing is kept', async () => {
    const lines: unknown[] = [];
    const { stillage, client } = await start({ log: (line) => lines.push(line) });
    expect(await (await fetch(`${stillage.endpoint}/_stillage/health`)).json()).toMatchObject({
      status: 'ok',
      ephemeral: true,
    });
    await put(client);
    expect(lines).toContainEqual(expect.objectContaining({ message: 'request', operation: 'PutObject', status: 200 }));
  });

  it('keeps a data directory from one start to the next, for the credentials that are named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kept-'));
    const credentials = { accessKeyId: 'TESTER', secretAccessKey: 'the secret of the tester' };
    const durable = { ephemeral: false, data: join(folder, 'data'), credentials };
    try {
      const first = await start(durable);
      await put(first.client);
      // Also while it writes: the engine opens no table a second time meanwhile.
      const writes = Array.from({ length: 100 }, () => put(first.client));
      await expect(start(durable)).rejects.toThrow(/serves .*stop it first/);
      await Promise.all(writes);
      await expect(first.stillage.reset()).rejects.toThrow('ephemeral');
      expect(() => first.stillage.fault({ kind: 'cut' })).toThrow('ephemeral');
      await first.stillage.stop();
      const second = await start(durable);
      expect(await get(second.client)).toBe('bytes');
      await second.stillage.stop();
      const wrong = { ...credentials, secretAccessKey: 'another' };
      await expect(start({ ...durable, credentials: wrong })).rejects.toThrow(/TESTER exists with another secret/);
      await expect(startStillage({ ...durable, port: 0, faults: [{ kind: 'cut' }] })).rejects.toThrow(TypeError);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('reset', () => {
  it('goes back to the buckets of the start, empty and without settings', async () => {
    const { stillage, client } = await start({ buckets: ['photos', 'backups'] });
    await put(client);
    await client.send(new CreateBucketCommand({ Bucket: 'another' }));
    const versioned = { Bucket: 'photos', VersioningConfiguration: { Status: 'Enabled' } } as const;
    await client.send(new PutBucketVersioningCommand(versioned));
    await stillage.reset();
    expect(await bucketsOf(client)).toEqual(['backups', 'photos']);
    expect((await client.send(new ListObjectsV2Command({ Bucket: 'photos' }))).KeyCount).toBe(0);
    expect((await client.send(new GetBucketVersioningCommand({ Bucket: 'photos' }))).Status).toBeUndefined();
  });

  it('may be asked for while requests run and several times at once', async () => {
    const { stillage, client } = await start();
    const outcomes = await Promise.all([put(client), stillage.reset(), put(client), stillage.reset(), put(client)]);
    expect(outcomes).toHaveLength(5);
    await stillage.reset();
    await put(client);
    expect(await get(client)).toBe('bytes');
  });
});

describe('options', () => {
  it('are all those of the command line, with its defaults', () => {
    const names = allStartOptions().map((option) => option.attributeName());
    expect(names).toContain('port');
    const ofProgram = ['awsCredentials', 'readyFile', 'workers', 'consolePort', 'consoleOrigin', 'consoleFiles'];
    const read = readOptions({}) as unknown as Record<string, unknown>;
    for (const option of allStartOptions()) {
      const name = option.attributeName();
      if (ofProgram.includes(name)) expect(() => readOptions({ [name]: true })).toThrow(TypeError);
      else expect(read[name], name).toEqual(option.defaultValue);
    }
  });

  it('are read as the command line reads them', () => {
    const options = {
      port: 0,
      strictRegion: true,
      signatureV2: false,
      trustProxy: ['10.0.0.0/8', '192.0.2.1'],
      limit: { keyBytes: 512 },
      publicUrl: 'https://objects.example.com/',
      lifecycleDaySeconds: 2,
    };
    expect(readOptions(options)).toMatchObject({ ...options, publicUrl: 'https://objects.example.com' });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown one', { prot: 1 }, /unknown option \(prot\)/],
    ['a port that is none', { port: 70_000 }, /port: Must be a port number/],
    ['an unknown limit', { limit: { keyBites: 1 } }, /limit: Unknown limit "keyBites"/],
    ['a string for a boolean', { strictRegion: 'no' }, /strictRegion: Must be true or false/],
    ['a number for a string', { region: 7 }, /region: Must be a string/],
    ['an impossible key', { credentials: { accessKeyId: 'a b', secretAccessKey: 'x' } }, /credentials: accessKeyId/],
    ['one of the program', { readyFile: '/tmp/x' }, /resolves once the service answers \(readyFile\)/],
    ['a region of nothing', { region: '' }, /^startStillage: region: Must be the name of a region/],
  ])('are refused in a line: %s', async (_, options, message) => {
    const failure: unknown = await startStillage({ ephemeral: true, ...options }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });

  it('refuse a bucket that cannot be', async () => {
    await expect(startStillage({ ephemeral: true, port: 0, buckets: ['No'] })).rejects.toThrow(
      /^startStillage: buckets: The specified bucket is not valid/,
    );
  });
});

describe('faults', () => {
  it('befall as many requests as they say, of the kind that they say', async () => {
    const { stillage, client } = await start({ faults: [{ kind: 'slow-down', operation: 'PutObject', times: 2 }] });
    expect(await bucketsOf(client)).toEqual(['photos']);
    await expectError(put(client), 'SlowDown', 503);
    await expectError(put(client), 'SlowDown', 503);
    await put(client);
    stillage.fault({ kind: 'internal-error', bucket: 'photos', key: photo.Key });
    await client.send(new PutObjectCommand({ Bucket: 'photos', Key: 'another', Body: 'x' }));
    await expectError(get(client), 'InternalError', 500);
    expect(await get(client)).toBe('bytes');
    stillage.fault({ kind: 'slow-down' });
    await expect(client.send(new HeadObjectCommand(photo))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 503 },
    });
  });

  it('cut connections: before anything is done, or in the middle of a body', async () => {
    const { stillage, client } = await start();
    stillage.fault({ kind: 'cut', operation: 'PutObject' });
    await expect(put(client)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
    for (const size of [1000, 3 * 1024 * 1024]) {
      await put(client, new Uint8Array(size));
      stillage.fault({ kind: 'half-body', operation: 'GetObject' });
      const { Body: body, ContentLength: announced } = await client.send(new GetObjectCommand(photo));
      expect(announced).toBe(size);
      await expect(body!.transformToByteArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await get(client)).toHaveLength(size);
    }
  });

  it('let a write happen whose response is lost', async () => {
    const { stillage, client } = await start();
    stillage.fault({ kind: 'half-body', operation: 'PutObject' });
    await expect(put(client)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await get(client)).toBe('bytes');
  });

  it('make requests late', async () => {
    const { stillage, client } = await start();
    await put(client);
    stillage.fault({ kind: 'late', operation: 'GetObject', delay: 300 });
    const order: string[] = [];
    await Promise.all([
      get(client).then(() => order.push('late')),
      // Sent once the one before has met the fault.
      new Promise((resolve) => setTimeout(resolve, 50)).then(() => get(client)).then(() => order.push('in time')),
    ]);
    expect(order).toEqual(['in time', 'late']);
  });

  it('end with a reset, and spare the health of the service', async () => {
    const { stillage, client } = await start({ faults: [{ kind: 'cut', times: Infinity }] });
    expect((await fetch(`${stillage.endpoint}/_stillage/health`)).status).toBe(200);
    await expect(put(client)).rejects.toThrow();
    await stillage.reset();
    await put(client);
  });

  it.each([
    { kind: 'late' },
    { kind: 'cut', delay: 5 },
    { kind: 'fire' },
    { kind: 'cut', times: 0 },
    { kind: 'cut', oparation: 'PutObject' },
    { kind: 'cut', operation: 'PutObjects' },
  ])('are refused if there is no such: %j', async (fault) => {
    const { stillage } = await start();
    expect(() => stillage.fault(fault as never)).toThrow(TypeError);
  });

  it('set the clock of the service ahead, so that signatures are refused', async () => {
    const { stillage, client } = await start({ clockOffset: 20 * 60_000 });
    const raw = new S3Client({ ...stillage.clientConfig, maxAttempts: 1, systemClockOffset: 0 });
    clients.push(raw);
    await expectError(put(raw), 'RequestTimeTooSkewed', 403);
    stillage.setClockOffset(0);
    await put(client);
  });
});

/** Returns the service's entries in the directory for temporary files. */
async function ourFiles(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => /^stillage-[A-Za-z0-9]{6}$/.test(name));
}
