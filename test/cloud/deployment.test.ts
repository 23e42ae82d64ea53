import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketEncryptionCommand,
  GetBucketRequestPaymentCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  GetObjectTorrentCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { request as startRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resources, temporaryDirectory, withDomain } from '../infra/synthesis.ts';
import { aws, awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { sdk } from '../support/clients/clients.ts';
import { md5, MiB, randomFile } from '../support/storage/contents.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, bob } from '../support/programs/server.ts';
import { anonymous, signed } from '../support/clients/signer.ts';
import { CloudAccount } from './cloud-account.ts';
import { apiHost, type DeploymentUnderTest } from './deployment-under-test.ts';
import { healthChecks } from './health-checks.ts';

// Through engines in Python, every write takes its time.
const { domain, websiteDomain } = withDomain;
const directory = await temporaryDirectory();
let account: CloudAccount | undefined;
let deployment: DeploymentUnderTest | undefined;
let client: S3Client | undefined;
let stranger: S3Client | undefined;

beforeAll(async () => {
  account = await CloudAccount.open();
  if (account === undefined) {
    console.warn(`SKIPPED, the deployment as its templates describe it: ${noEngine}`);
    return;
  }
  deployment = await account.deploy({ ...withDomain, requestLog: 'all' });
  client = sdk(deployment, alice, { maxAttempts: 1 });
  stranger = sdk(deployment, bob, { maxAttempts: 1 });
});
beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  client?.destroy();
  stranger?.destroy();
  await account?.close();
  await rm(directory, { recursive: true });
});

/** Exact bytes to the distribution, signed by alice for the host. */
const send = (
  request: { method?: string; path: string; query?: string; headers?: Record<string, string>; body?: string | Buffer },
  host = new URL(deployment!.url).host,
): Promise<RawResponse> => exchange(deployment!.url, signed(host, request, { key: alice }));

const Bucket = 'through-the-edge';
const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index & 255));

const bodyOf = async (Key: string): Promise<Buffer> => {
  const { Body } = await client!.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body!.transformToByteArray());
};

describe('a client of S3 at the endpoint', () => {
  it('has buckets', async () => {
    await client!.send(new CreateBucketCommand({ Bucket }));
    const again = stranger!.send(new CreateBucketCommand({ Bucket }));
    await expect(again).rejects.toEqual(s3Error('BucketAlreadyExists', 409));
    await client!.send(new HeadBucketCommand({ Bucket }));
    const { Buckets } = await client!.send(new ListBucketsCommand());
    expect(Buckets!.map(({ Name }) => Name)).toEqual([Bucket]);
  });

  it('keeps the bytes of objects, whatever they are called', async () => {
    for (const Key of ['plain', 'a+b c', '/leading//and trailing/', 'ü€/%2F%25', './../x', "!'()*~:@&=,;$?#[]|{}"]) {
      await client!.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));
      expect((await bodyOf(Key)).equals(bytes)).toBe(true);
    }
  });

  it('is told the length of an object by HEAD', async () => {
    expect((await client!.send(new HeadObjectCommand({ Bucket, Key: 'plain' }))).ContentLength).toBe(bytes.length);
  });

  it('sends a body in chunks with a checksum after it', async () => {
    const Body = Readable.from([Buffer.from('first '), Buffer.from('second')]);
    const put = new PutObjectCommand({ Bucket, Key: 'streamed', Body, ContentLength: 12, ChecksumAlgorithm: 'CRC32' });
    expect((await client!.send(put)).ChecksumCRC32).toBeDefined();
    const { Body: stored } = await client!.send(new GetObjectCommand({ Bucket, Key: 'streamed', Range: 'bytes=6-' }));
    expect(await stored!.transformToString()).toBe('second');
  });

  it('has metadata with all the characters of a name', async () => {
    const answer = await send({
      method: 'PUT',
      path: `/${Bucket}/metadata`,
      headers: { 'x-amz-meta-with_underscore': 'a' },
      body: 'x',
    });
    expect(answer.status).toBe(200);
    const { Metadata } = await client!.send(new HeadObjectCommand({ Bucket, Key: 'metadata' }));
    expect(Metadata).toEqual({ with_underscore: 'a' });
  });

  it('lists, with odd characters in the query', async () => {
    const list = new ListObjectsV2Command({ Bucket, Prefix: 'a+b c', MaxKeys: 1 });
    expect((await client!.send(list)).Contents).toMatchObject([{ Key: 'a+b c', Size: 100_000 }]);
    const raw = await send({ path: `/${Bucket}`, query: 'delimiter=%7C&list-type=2&prefix=a%2Bb%20c' });
    expect(raw.body.toString()).toContain('<Key>a+b c</Key>');
  });

  it('has versions', async () => {
    const enabled = { Bucket, VersioningConfiguration: { Status: 'Enabled' } } as const;
    await client!.send(new PutBucketVersioningCommand(enabled));
    expect((await client!.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    await client!.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'newer' }));
    const { Versions } = await client!.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'plain' }));
    expect(Versions!.map(({ Size }) => Size)).toEqual([5, 100_000]);
  });

  it('has tags, attributes and lists of grants', async () => {
    const Tagging = { TagSet: [{ Key: 'colour', Value: 'grün' }] };
    await client!.send(new PutObjectTaggingCommand({ Bucket, Key: 'plain', Tagging }));
    expect((await client!.send(new GetObjectTaggingCommand({ Bucket, Key: 'plain' }))).TagSet).toEqual(Tagging.TagSet);
    const attributes = new GetObjectAttributesCommand({ Bucket, Key: 'plain', ObjectAttributes: ['ObjectSize'] });
    expect((await client!.send(attributes)).ObjectSize).toBe(5);
    expect((await client!.send(new GetBucketAclCommand({ Bucket }))).Grants).toHaveLength(1);
  });

  it('has the documents of a bucket', async () => {
    await client!.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }));
    const rule = { AllowedMethods: ['GET'], AllowedOrigins: ['https://example.com'] };
    await client!.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }));
    const headers = { origin: 'https://example.com', 'access-control-request-method': 'GET' };
    const host = new URL(deployment!.url).host;
    const preflight = await exchange(
      deployment!.url,
      anonymous(host, { method: 'OPTIONS', path: `/${Bucket}/x`, headers }),
    );
    expect(preflight.status).toBe(200);
    const Rules = [{ ID: 'old', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 3 } }] as const;
    const lifecycle = { Bucket, LifecycleConfiguration: { Rules: [...Rules] } };
    await client!.send(new PutBucketLifecycleConfigurationCommand(lifecycle));
  });

  it('copies without moving bytes, and moving them', async () => {
    const source = { Bucket, CopySource: `${Bucket}/a%2Bb%20c` };
    await client!.send(new CopyObjectCommand({ ...source, Key: 'copy' }));
    expect((await bodyOf('copy')).equals(bytes)).toBe(true);
    await client!.send(new CopyObjectCommand({ ...source, Key: 'checked', ChecksumAlgorithm: 'SHA256' }));
    expect((await bodyOf('checked')).equals(bytes)).toBe(true);
    expect((await deployment!.requests('CopyObject')).map(({ status }) => status)).toEqual([200]);
    const moved = (await deployment!.requests('byte-lane')).filter(({ operation }) => operation === 'CopyObject');
    expect(moved.map(({ status }) => status)).toEqual([200]);
  });

  it('uploads in parts', async () => {
    const target = { Bucket, Key: 'parts' };
    const { UploadId } = await client!.send(new CreateMultipartUploadCommand(target));
    const part = { ...target, UploadId };
    const Body = randomBytes(5 * MiB);
    const one = await client!.send(new UploadPartCommand({ ...part, PartNumber: 1, Body }));
    const CopySource = `${Bucket}/copy`;
    const two = await client!.send(new UploadPartCopyCommand({ ...part, PartNumber: 2, CopySource }));
    expect((await client!.send(new ListPartsCommand(part))).Parts).toHaveLength(2);
    expect((await client!.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toHaveLength(1);
    const Parts = [
      { PartNumber: 1, ETag: one.ETag, ChecksumCRC32: one.ChecksumCRC32 },
      { PartNumber: 2, ETag: two.CopyPartResult!.ETag, ChecksumCRC32: two.CopyPartResult!.ChecksumCRC32 },
    ];
    await client!.send(new CompleteMultipartUploadCommand({ ...part, MultipartUpload: { Parts } }));
    expect((await bodyOf('parts')).equals(Buffer.concat([Body, bytes]))).toBe(true);
    const other = await client!.send(new CreateMultipartUploadCommand({ ...target, Key: 'aborted' }));
    await client!.send(new AbortMultipartUploadCommand({ Bucket, Key: 'aborted', UploadId: other.UploadId }));
  });

  it('reads by a presigned URL, and not by a broken one', async () => {
    const url = await getSignedUrl(client!, new GetObjectCommand({ Bucket, Key: 'a+b c' }));
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await fetch(url.replace('a%2Bb', 'a%2Bc'))).status).toBe(403);
  });

  it('reads by a public link', async () => {
    const made = await send({ method: 'POST', path: `/${Bucket}/copy`, query: 'public-link' });
    expect(made.status).toBe(201);
    const path = /\/_public\/[^<]+/.exec(made.body.toString())![0];
    const answer = await fetch(deployment!.url + path);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('addresses buckets by host name', async () => {
    const listed = await send({ path: '/', query: 'list-type=2&prefix=copy' }, `${Bucket}.${domain}`);
    expect(listed.body.toString()).toContain('<Key>copy</Key>');
    const read = await send({ path: '/copy' }, `${Bucket}.${domain}`);
    expect(read.body.equals(bytes)).toBe(true);
  });

  it('has a website on a host of its own', async () => {
    const WebsiteConfiguration = { IndexDocument: { Suffix: 'index.html' } };
    await client!.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
    const Statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await client!.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    const page = { Bucket, Key: 'index.html', Body: '<h1>Here</h1>', ContentType: 'text/html' };
    await client!.send(new PutObjectCommand(page));
    const answer = await exchange(deployment!.url, anonymous(`${Bucket}.${websiteDomain}`, { path: '/' }));
    expect({ status: answer.status, text: answer.body.toString() }).toEqual({ status: 200, text: '<h1>Here</h1>' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('has a website that can only be looked at: %s', async (method) => {
    const sent = anonymous(`${Bucket}.${websiteDomain}`, { method, path: '/' });
    const answer = await exchange(deployment!.url, sent);
    expect(answer.status).toBe(405);
    expect(answer.body.toString()).toContain('<li>Code: MethodNotAllowed</li>');
  });

  it('is answered by stubs, and told what is not there', async () => {
    expect((await client!.send(new GetBucketRequestPaymentCommand({ Bucket }))).Payer).toBe('BucketOwner');
    const encryption = client!.send(new GetBucketEncryptionCommand({ Bucket }));
    await expect(encryption).rejects.toEqual(s3Error('ServerSideEncryptionConfigurationNotFoundError', 404));
    const torrent = client!.send(new GetObjectTorrentCommand({ Bucket, Key: 'copy' }));
    await expect(torrent).rejects.toEqual(s3Error('NotImplemented', 501));
    expect((await send({ method: 'PATCH', path: `/${Bucket}` })).status).toBe(405);
  });

  it('is refused with the errors of S3', async () => {
    const missing = client!.send(new GetObjectCommand({ Bucket, Key: 'missing' }));
    await expect(missing).rejects.toEqual(s3Error('NoSuchKey', 404));
    const forged = sdk(deployment!, { ...alice, secretAccessKey: 'guessed' }, { maxAttempts: 1 });
    const refused = forged.send(new ListObjectsV2Command({ Bucket }));
    await expect(refused).rejects.toEqual(s3Error('SignatureDoesNotMatch', 403));
    await expect(stranger!.send(new ListObjectsV2Command({ Bucket }))).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('asks for health', async () => {
    expect((await fetch(`${deployment!.url}/_stillage/health`)).status).toBe(200);
  });
});

describe('the AWS CLI at the endpoint', () => {
  it('puts a file of 100 MiB, and gets it back', async (context) => {
    if (!awsInstalled) context.skip(howToInstallAws);
    const [there, back] = [join(directory, 'there'), join(directory, 'back')];
    const content = await randomFile(there, 100 * MiB);
    const env = {
      AWS_ACCESS_KEY_ID: alice.accessKeyId,
      AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: deployment!.url,
      AWS_CONFIG_FILE: join(directory, 'no-such-config'),
      AWS_SHARED_CREDENTIALS_FILE: join(directory, 'no-such-credentials'),
    };
    await aws(['s3', 'cp', '--no-progress', there, `s3://${Bucket}/big`], { env });
    await aws(['s3', 'cp', '--no-progress', `s3://${Bucket}/big`, back], { env });
    expect(md5(await readFile(back))).toBe(md5(content));
    const { ETag } = await client!.send(new HeadObjectCommand({ Bucket, Key: 'big' }));
    expect(ETag).toMatch(/-13"$/);
    expect((await deployment!.requests('CompleteMultipartUpload')).at(-1)).toMatchObject({ status: 200 });
  });

  it('as one object, too, which no memory holds', async () => {
    const size = 100 * MiB;
    const chunk = randomBytes(MiB);
    const whole = createHash('md5');
    for (let sent = 0; sent < size; sent += chunk.length) whole.update(chunk);
    const Body = Readable.from(Array.from({ length: size / chunk.length }, () => chunk));
    const put = new PutObjectCommand({ Bucket, Key: 'one', Body, ContentLength: size });
    expect((await client!.send(put)).ETag).toBe(`"${whole.digest('hex')}"`);
    const { Body: stored } = await client!.send(new GetObjectCommand({ Bucket, Key: 'one' }));
    let received = 0;
    for await (const part of stored as Readable) received += (part as Buffer).length;
    expect(received).toBe(size);
  });
});

describe('what did not come through the distribution', () => {
  const kept = {
    'x-stillage-edge': 'guess',
    'x-stillage-target': `/${Bucket}?list-type=2`,
    'x-stillage-host': 'h',
    'x-stillage-address': '127.0.0.1',
  };

  it('is refused by functions, whatever it says of itself', async () => {
    const call = (target: string, headers: Record<string, string>, host = apiHost) =>
      deployment!.callApi({
        method: 'GET',
        target,
        headers: Object.entries({ host, ...headers }),
        body: Buffer.alloc(0),
        sourceIp: '203.0.113.7',
      });
    for (const headers of [{}, kept]) {
      const { status, body } = await call('/ListObjectsV2', headers);
      expect({ status, isXml: body.includes('<Code>AccessDenied</Code>') }).toEqual({ status: 403, isXml: true });
    }
    expect((await call('/NoSuchFunction', kept)).status).toBe(503);
    expect((await call('/ListObjectsV2', kept, 's3.example.com')).status).toBe(403);
  });

  it('is refused by the byte lane, which says to the load balancer alone how it is', async () => {
    const { byteLaneUrl } = deployment!;
    for (const headers of [{}, kept]) {
      const answer = await fetch(`${byteLaneUrl}/${Bucket}/copy`, { headers });
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain('<Code>AccessDenied</Code>');
    }
    expect((await fetch(`${byteLaneUrl}/_stillage/health`)).status).toBe(200);
  });

  it('cannot be passed off by headers of a client', async () => {
    const forged = { ...kept, 'x-stillage-target': '/', 'x-stillage-authorization': 'AWS4-HMAC-SHA256 forged' };
    const answer = await send({ path: `/${Bucket}`, query: 'list-type=2&max-keys=1', headers: forged });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toContain(`<Name>${Bucket}</Name>`);
  });
});

describe('behind the distribution', () => {
  it('each request is logged once, in one line, where it was served', async () => {
    expect(await deployment!.requests('CreateBucket')).toMatchObject([
      { operation: 'CreateBucket', status: 200, user: 'alice', bucket: Bucket },
      { operation: 'CreateBucket', status: 409, user: 'bob', bucket: Bucket },
    ]);
    const streamed = new Set((await deployment!.requests('byte-lane')).map(({ operation }) => operation));
    expect([...streamed]).toEqual(
      expect.arrayContaining([
        'GetObject',
        'HeadObject',
        'PutObject',
        'UploadPart',
        'UploadPartCopy',
        'GetWebsitePage',
      ]),
    );
    for (const name of ['GetObject', 'HeadObject', 'PutObject', 'UploadPart', 'UploadPartCopy']) {
      expect(deployment!.invoked).not.toContain(name);
    }
  });

  it('nobody asks the engines for what their roles do not grant', async () => {
    const granted = grantedActions();
    for (const [caller, used] of deployment!.calls.actions) {
      expect({ caller, more: [...used].filter((action) => !granted.get(caller)?.has(action)) }).toEqual({
        caller,
        more: [],
      });
    }
    expect(deployment!.calls.actions.get('byte-lane')).toContain('s3:PutObject');
    expect(deployment!.calls.actions.size).toBeGreaterThan(20);
    expect(deployment!.calls.denied).toEqual([]);
    expect(deployment!.calls.unused().filter((grant) => !(grant in unusedWithReason))).toEqual([]);
  });

  it('a server of the byte lane begins no more uploads than it has memory for, and says so before it reads them', async () => {
    const memory = Number(deployment!.serverEnvironment['STILLAGE_UPLOAD_MEMORY']);
    const perUpload = 3 * 8 * MiB;
    const fitting = Math.floor(memory / perUpload);
    const begin = (Key: string): { putting: ClientRequest; answer: Promise<number | undefined> } => {
      const host = new URL(deployment!.url).host;
      const unsigned = {
        method: 'PUT',
        path: `/${Bucket}/${Key}`,
        headers: { 'content-length': String(100 * MiB) },
      };
      const { method, target, headers } = signed(host, unsigned, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' });
      const putting = startRequest(deployment!.url, { method, path: target, headers: headers.flat() });
      const answer = once(putting, 'response').then(
        ([response]) => (response as IncomingMessage).resume().statusCode,
        () => undefined,
      );
      putting.write('begun');
      return { putting, answer };
    };
    const uploads = Array.from({ length: fitting + 1 }, (_, index) => begin(`large-${index}`));
    // One more than fit: the first answer is that of the one that is refused, as the others wait for their bytes.
    expect(await Promise.race(uploads.map(({ answer }) => answer))).toBe(503);
    for (const { putting } of uploads) putting.destroy();
    expect((await Promise.all(uploads.map(({ answer }) => answer))).filter(Boolean)).toEqual([503]);
    // Their memory is free again.
    await client!.send(new PutObjectCommand({ Bucket, Key: 'after', Body: bytes }));
    await client!.send(new DeleteObjectCommand({ Bucket, Key: 'after' }));
  });

  it('a server of the byte lane stays in use while the table and the blobs do not answer', async () => {
    const { byteLaneUrl, calls, synthesis } = deployment!;
    const { loadBalancer, container } = healthChecks(synthesis.streaming!.toJSON());
    calls.isOut = true;
    try {
      expect((await fetch(`${byteLaneUrl}/_stillage/health`)).status).toBeGreaterThanOrEqual(500);
      // A server that either of them takes for unhealthy is stopped, and another one started in its place, which fares no better.
      for (const path of [loadBalancer, container]) expect((await fetch(byteLaneUrl + path)).status).toBe(200);
    } finally {
      calls.isOut = false;
    }
    expect((await fetch(`${byteLaneUrl}/_stillage/health`)).status).toBe(200);
  });

  it('objects go, many at once, and then the bucket', async () => {
    const { Versions = [], DeleteMarkers = [] } = await client!.send(new ListObjectVersionsCommand({ Bucket }));
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    const gone = await client!.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(gone.Deleted).toHaveLength(Objects.length);
    await client!.send(new DeleteBucketCommand({ Bucket }));
    await expect(client!.send(new HeadBucketCommand({ Bucket }))).rejects.toThrow();
  });

  it('a server of the byte lane that is told to stop ends what it has begun', async () => {
    const Bucket = 'stopping';
    await client!.send(new CreateBucketCommand({ Bucket }));
    await client!.send(new PutObjectCommand({ Bucket, Key: 'copy', Body: 'copy' }));
    const { method, target, headers } = signed(
      new URL(deployment!.url).host,
      { method: 'PUT', path: `/${Bucket}/last`, body: 'first second' },
      { key: alice },
    );
    const putting = startRequest(deployment!.url, { method, path: target, headers: headers.flat() });
    const answered = once(putting, 'response') as Promise<[IncomingMessage]>;
    putting.write('first ');
    // A second request that is answered shows that the first one, which came before it, is there.
    await client!.send(new HeadObjectCommand({ Bucket, Key: 'copy' }));
    const stopped = deployment!.stopByteLane();
    await expect
      .poll(() => client!.send(new HeadObjectCommand({ Bucket, Key: 'copy' })).then(Boolean, () => false))
      .toBe(false);
    putting.end('second');
    const [answer] = await answered;
    expect(answer.statusCode).toBe(200);
    answer.resume();
    expect(await stopped).toBe(0);
  });
});

const movesBytes = 'it moves bytes where there is no byte lane, and where too many share the source';
const readsAsAll = 'who reads may read in every way: there is one set of grants for reading';

/** Granted though no request here comes to need it, and when one would. A role of several functions is called as the first of them. */
const unusedWithReason: Readonly<Record<string, string>> = {
  'AbortMultipartUpload: dynamodb:ConditionCheckItem on table': 'PutAlarm, if the bucket is still monitored',
  'CopyObject: dynamodb:DeleteItem on table': 'a copy over a null version that lies in the history',
  'CopyObject: dynamodb:Query on table': 'a source of several parts, whose manifest is in slices',
  'CopyObject: s3:AbortMultipartUpload on blobs': movesBytes,
  'CopyObject: s3:DeleteObject on blobs': movesBytes,
  'CopyObject: s3:GetObject on blobs': movesBytes,
  'CopyObject: s3:PutObject on blobs': movesBytes,
  'CopyObject: s3:ListBucket on blob bucket': movesBytes,
  'GetHealth: dynamodb:Query on table': readsAsAll,
  'GetHealth: s3:GetObject on blobs': readsAsAll,
  'byte-lane: dynamodb:ConditionCheckItem on table': 'a copy that was sent there to move bytes, and need not',
  'byte-lane: dynamodb:DeleteItem on table': 'PutObject over a null version that lies in the history',
  'byte-lane: dynamodb:Query on table': 'an object of several parts, whose manifest is in slices',
  'byte-lane: s3:AbortMultipartUpload on blobs': 'a body that breaks off behind its first 8 MiB',
  'byte-lane: s3:DeleteObject on blobs': 'content that was written when its key or its upload had just changed',
};

interface PolicyDocument {
  readonly Statement: readonly { readonly Action: string | readonly string[] }[];
}

/** Returns the actions that the template grants to the role of each function, and of the byte lane. */
function grantedActions(): Map<string, Set<string>> {
  const { api, streaming } = deployment!.synthesis;
  const roles = new Map(resources(api, 'AWS::IAM::Role'));
  const actionsOf = (documents: readonly PolicyDocument[]): Set<string> =>
    new Set(documents.flatMap(({ Statement }) => Statement).flatMap(({ Action }) => Action));
  const ofFunctions = resources(api, 'AWS::Lambda::Function').map(([id, { Properties }]) => {
    const [role] = (Properties['Role'] as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'];
    const { Policies } = roles.get(role)!.Properties as { Policies: { PolicyDocument: PolicyDocument }[] };
    return [
      id.replace(/Function[0-9A-F]{8}$/, ''),
      actionsOf(Policies.map((policy) => policy.PolicyDocument)),
    ] as const;
  });
  const ofTask = resources(streaming!, 'AWS::IAM::Policy')
    .filter(([id]) => id.startsWith('TaskTaskRole'))
    .map(([, { Properties }]) => Properties['PolicyDocument'] as PolicyDocument);
  return new Map([...ofFunctions, ['byte-lane', actionsOf(ofTask)]]);
}
