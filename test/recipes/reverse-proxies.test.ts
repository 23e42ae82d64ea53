import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { randomBytes } from 'node:crypto';
import { lookup as resolveName } from 'node:dns';
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { isInstalled, skip } from '../support/programs/programs.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { startCaddy, startHaproxy, startNginx, type ReverseProxy } from '../support/clients/reverse-proxies.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { pathOf, signed } from '../support/clients/signer.ts';

const domain = 's3.localhost';
const MiB = 1024 * 1024;
const proxies = [
  { name: 'nginx', start: startNginx, isThere: isInstalled('nginx', ['-v']) },
  { name: 'caddy', start: startCaddy, isThere: isInstalled('caddy', ['version']) },
  { name: 'haproxy', start: startHaproxy, isThere: isInstalled('haproxy', ['-v']) },
] as const;

/** Keys that a proxy which tidies up paths would change. */
const keys = [
  'a//b',
  '/a',
  'a/',
  'a%2Fb',
  '%',
  'a+b c&d=e?f#g',
  './a/../b',
  '日本/ü',
  "(a)!*'~;:@$,",
  'a\\b',
  '%00',
  'a%20b',
];

describe.each(proxies)('behind $name', ({ name, start, isThere }) => {
  let folder: string;
  let service: Service;
  let proxy: ReverseProxy | undefined;
  let authority: string;
  const clients: S3Client[] = [];

  beforeAll(async () => {
    if (!isThere) return;
    folder = await mkdtemp(join(tmpdir(), `stillage-${name}-`));
    const certificates = await issueCertificate(folder, ['localhost', '127.0.0.1', domain, `*.${domain}`]);
    authority = await readFile(certificates.authority, 'utf8');
    service = await startService({ args: ['--domain', domain, '--trust-proxy', '127.0.0.1'] });
    proxy = await start({ folder, certificates, port: service.port, domain });
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await proxy?.stop();
    await service?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });
  beforeEach((context) => {
    if (!isThere) skip(context, `${name} is not installed: apt-get install ${name}`);
  });

  const urlOf = (scheme: 'http' | 'https', host = domain): string => `${scheme}://${host}:${proxy!.ports[scheme]}`;
  function client(scheme: 'http' | 'https', config: S3ClientConfig = {}): S3Client {
    const lookup = (hostname: string, options: object, callback: (error: Error | null) => void): void =>
      resolveName(hostname.endsWith('.localhost') ? '127.0.0.1' : hostname, options, callback as never);
    const requestHandler = {
      httpAgent: new HttpAgent({ lookup: lookup as never }),
      httpsAgent: new HttpsAgent({ lookup: lookup as never, ca: authority }),
    };
    const made = sdk({ url: urlOf(scheme) }, alice, { requestHandler, maxAttempts: 1, ...config });
    clients.push(made);
    return made;
  }
  async function newBucket(): Promise<string> {
    const Bucket = bucketName();
    await client('https').send(new CreateBucketCommand({ Bucket }));
    return Bucket;
  }
  const textOf = async (from: S3Client, Bucket: string, Key: string, options: object = {}): Promise<string> =>
    (await from.send(new GetObjectCommand({ Bucket, Key, ...options }))).Body!.transformToString();

  describe.each(['http', 'https'] as const)('over %s', (scheme) => {
    it.each([true, false])('keys are as they were sent, buckets in the path: %s', async (forcePathStyle) => {
      const Bucket = await newBucket();
      const s3 = client(scheme, { forcePathStyle });
      for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      for (const Key of keys) expect(await textOf(s3, Bucket, Key)).toBe(Key);
      const { Contents: contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
      expect(contents!.map(({ Key }) => Key).sort()).toEqual([...keys].sort());
    });

    it('presigned URLs hold, of reads and of writes', async () => {
      const Bucket = await newBucket();
      const s3 = client(scheme);
      const host = ['host', `${domain}:${proxy!.ports[scheme]}`] as const;
      // As they are: fetch would resolve the dots of a path.
      const send = (method: string, url: string, body = ''): Promise<RawResponse> => {
        const headers = [host, ['content-length', String(Buffer.byteLength(body))] as const];
        const target = url.slice(urlOf(scheme).length);
        return exchange(urlOf(scheme, 'localhost'), { method, target, headers, body }, authority);
      };
      for (const Key of keys) {
        const stored = await send('PUT', await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key })), Key);
        expect(stored.status, stored.text).toBe(200);
        const found = await send('GET', await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key })));
        expect(found.text).toBe(Key);
      }
    });

    it('metadata with dots and underscores passes, and what is packed stays packed', async () => {
      const Bucket = await newBucket();
      const s3 = client(scheme);
      const object = { Bucket, Key: 'packed' };
      const Metadata = { with_underscore: 'a', 'with.dot': 'b  c' };
      await s3.send(new PutObjectCommand({ ...object, Body: 'packed?', ContentEncoding: 'gzip', Metadata }));
      const read = await s3.send(new GetObjectCommand(object));
      expect(read).toMatchObject({ ContentEncoding: 'gzip', ContentLength: 7, Metadata });
      expect(await read.Body!.transformToString()).toBe('packed?');
      const head = await s3.send(new HeadObjectCommand(object));
      expect(head).toMatchObject({ ContentEncoding: 'gzip', ContentLength: 7, Metadata });
      expect(head.ETag).toBe(read.ETag);
    });

    it('large bodies stream, in parts, chunks and ranges', async () => {
      const Bucket = await newBucket();
      const s3 = client(scheme);
      const bytes = randomBytes(12 * MiB);
      const params = { Bucket, Key: 'large', Body: bytes };
      await new Upload({ client: s3, params, partSize: 5 * MiB, queueSize: 2 }).done();
      const whole = await s3.send(new GetObjectCommand({ Bucket, Key: 'large' }));
      expect(Buffer.from(await whole.Body!.transformToByteArray()).equals(bytes)).toBe(true);
      const range = await s3.send(new GetObjectCommand({ Bucket, Key: 'large', Range: `bytes=${6 * MiB}-` }));
      expect(range.ContentRange).toBe(`bytes ${6 * MiB}-${12 * MiB - 1}/${12 * MiB}`);
      expect(Buffer.from(await range.Body!.transformToByteArray()).equals(bytes.subarray(6 * MiB))).toBe(true);
      await s3.send(new PutObjectCommand({ Bucket, Key: 'once', Body: bytes, ChecksumAlgorithm: 'SHA256' }));
      expect((await s3.send(new HeadObjectCommand({ Bucket, Key: 'once' }))).ContentLength).toBe(12 * MiB);
    });
  });

  /** On the port without TLS. */
  const raw = (): string => urlOf('http', '127.0.0.1');
  const host = (): string => `127.0.0.1:${proxy!.ports.http}`;

  it('a client that expects 100 Continue gets it, and a body without a length arrives', async () => {
    const Bucket = await newBucket();
    const path = pathOf(Bucket, 'expected');
    const unsigned = { method: 'PUT', path, body: 'a body', headers: { expect: '100-continue' } };
    const request = signed(host(), unsigned, { key: alice, unsigned: ['expect'] });
    const connection = await RawConnection.open(raw());
    connection.write(requestBytes({ ...request, body: '' }));
    expect(await connection.interim()).toBe(100);
    connection.write('a body');
    expect((await connection.response()).status).toBe(200);
    connection.close();

    const chunked = signed(
      host(),
      { method: 'PUT', path, headers: { 'transfer-encoding': 'chunked', 'content-length': null } },
      { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const sent = await exchange(raw(), { ...chunked, body: '6\r\na body\r\n0\r\n\r\n' });
    expect(sent.status, sent.text).toBe(200);
    expect(await textOf(client('http'), Bucket, 'expected')).toBe('a body');
  });

  it('a request that is refused by its head gets its answer, from nginx before its body has come', async () => {
    const Bucket = await newBucket();
    const unsigned = { method: 'PUT', path: pathOf(Bucket, 'large'), headers: { 'content-length': String(8 * MiB) } };
    const request = signed(host(), unsigned, {
      key: { ...alice, secretAccessKey: 'another' },
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
    const connection = await RawConnection.open(raw());
    connection.write(requestBytes({ ...request, body: '' }));
    // The server of Caddy waits for a client that has begun to send, and passes on the answer then.
    connection.write(Buffer.alloc(name === 'nginx' ? 1000 : 8 * MiB));
    const response = await connection.response();
    expect([response.status, /<Code>(\w+)/.exec(response.text)?.[1]]).toEqual([403, 'SignatureDoesNotMatch']);
    connection.close();
  });

  it('a key that climbs above the root is a key, but where the documentation says otherwise', async () => {
    const Bucket = await newBucket();
    const path = `/${Bucket}/../../a`;
    const { status } = await exchange(raw(), signed(host(), { method: 'PUT', path, body: 'a' }, { key: alice }));
    // docs/running.md
    expect(status).toBe(name === 'nginx' ? 400 : 200);
  });

  it('an error is the answer of the service, with its ids, also of HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const response = await exchange(raw(), { method, target: '/nobody/nothing', headers: [['host', host()]] });
      expect(response.status).toBe(404);
      expect(response.header('x-amz-request-id')).toMatch(/^tx/);
      expect(response.header('server')).toBe(name === 'caddy' ? 'Caddy' : 'Stillage');
      if (method === 'GET') expect(response.text).toContain('<Code>NoSuchBucket</Code>');
    }
  });

  it('the service knows whether a client has used TLS, whatever the client says', async () => {
    const Bucket = await newBucket();
    const secured = client('https');
    await secured.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'a' }));
    const Statement = {
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${Bucket}/*`,
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    };
    await secured.send(
      new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
    );
    expect(await textOf(secured, Bucket, 'a')).toBe('a');
    await expect(textOf(client('http'), Bucket, 'a')).rejects.toMatchObject({ name: 'AccessDenied' });
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
    const lying = signed(host(), { path: pathOf(Bucket, 'a'), headers }, { key: alice });
    expect((await exchange(raw(), lying)).status).toBe(403);
  });
});
