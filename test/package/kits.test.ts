import {
  PutObjectCommand,
  ListObjectsV2Command,
  DeleteObjectCommand,
  GetBucketCorsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { globalSetup as setUpJest, stopStillage } from '../../local/package/jest.ts';
import S3rver, { type EventRecord } from '../../local/package/s3rver.ts';
import { globalSetup as setUpVitest, stillageFor } from '../../local/package/vitest.ts';
import { eventually } from '../support/runs/eventually.ts';

const countOf = async (client: S3Client, Bucket: string): Promise<number | undefined> =>
  (await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount;

describe('a service for a file', () => {
  const stillage = stillageFor({ beforeAll, beforeEach, afterAll }, { buckets: ['photos'] });
  it.each([1, 2])('is empty before each test: %i', async () => {
    const client = new S3Client(stillage.clientConfig);
    expect(await countOf(client, 'photos')).toBe(0);
    await client.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a', Body: 'x' }));
    client.destroy();
  });
});

describe('a service for a run', () => {
  const variables = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_ENDPOINT_URL',
    'AWS_ENDPOINT_URL_S3',
  ];
  const kept = variables.map((name) => [name, process.env[name]] as const);
  afterAll(() => {
    for (const [name, value] of kept) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('of Vitest is provided, and in the environment', async () => {
    const provided: unknown[] = [];
    const stop = await setUpVitest({ buckets: ['photos'] })({ provide: (key, value) => provided.push(key, value) });
    expect(provided).toEqual(['stillage', expect.objectContaining({ endpoint: process.env['AWS_ENDPOINT_URL'] })]);
    expect((await fetch(`${process.env['AWS_ENDPOINT_URL']}/photos`)).status).toBe(403);
    await stop();
  });

  it('of Jest is in the environment, until the teardown', async () => {
    await setUpJest({ buckets: ['photos'] })();
    expect((await fetch(`${process.env['AWS_ENDPOINT_URL']}/photos`)).status).toBe(403);
    await stopStillage();
    await expect(fetch(`${process.env['AWS_ENDPOINT_URL']}/photos`)).rejects.toThrow();
  });
});

describe('in the place of s3rver', () => {
  const cors = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>`;

  it('runs as its users run it, with its key, configured buckets and events', async () => {
    const server = new S3rver({ port: 0, silent: true, configureBuckets: [{ name: 'test-bucket', configs: [cors] }] });
    const events: EventRecord[] = [];
    server.on('event', ({ Records: [record] }: { Records: [EventRecord] }) => events.push(record));
    const { port } = await server.run();
    const client = new S3Client({
      endpoint: `http://localhost:${port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    });
    const object = { Bucket: 'test-bucket', Key: 'a b/ä' };
    await client.send(new PutObjectCommand({ ...object, Body: 'Hello!' }));
    await client.send(new DeleteObjectCommand(object));
    expect(events.map(({ eventName, s3 }) => [eventName, s3.bucket.name, s3.object.key, s3.object.size])).toEqual([
      ['ObjectCreated:Put', 'test-bucket', 'a b/ä', 6],
      ['ObjectRemoved:Delete', 'test-bucket', 'a b/ä', undefined],
    ]);
    await client.send(new PutObjectCommand({ ...object, Body: 'x' }));
    await server.reset();
    expect(await countOf(client, 'test-bucket')).toBe(0);
    const { CORSRules: rules } = await client.send(new GetBucketCorsCommand({ Bucket: 'test-bucket' }));
    expect(rules).toEqual([{ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }]);
    client.destroy();
    await new Promise((resolve) => void server.close(resolve));
    await expect(server.reset()).rejects.toThrow('run()');
  });

  it('warns where others can reach it with its key, which everybody knows', async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', note);
    for (const address of ['127.0.0.1', '0.0.0.0']) {
      const server = new S3rver({ address, port: 0, silent: true });
      await server.run();
      await server.close();
    }
    await eventually(() => expect(warnings).toEqual([expect.stringMatching(/^S3rver listens on 0\.0\.0\.0 /)]));
    process.off('warning', note);
  });

  it('refuses to accept wrong signatures', () => {
    expect(() => new S3rver({ allowMismatchedSignatures: true })).toThrow(TypeError);
  });

  it('refuses what would make others expect HTTPS', () => {
    expect(() => new S3rver({ key: 'a key', cert: 'a certificate' } as never)).toThrow(/startStillage/);
  });
});
