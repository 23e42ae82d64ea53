import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleOperations } from '../../infra/bundle.ts';
import { describeOperations } from '../../infra/operation-descriptions.ts';
import { resources, synthesise, temporaryDirectory } from '../infra/synthesis.ts';
import { sdk } from '../support/clients.ts';
import { bodilessError, s3Error } from '../support/expect-error.ts';
import { startMoto } from '../support/moto.ts';
import { alice, bob } from '../support/server.ts';
import { signed, type Unsigned } from '../support/signer.ts';
import { DeploymentUnderTest } from './deployment-under-test.ts';
import type { ApiResponse } from './rest-api.ts';

const served = [
  'CreateBucket',
  'DeleteBucket',
  'DeleteObject',
  'GetObject',
  'HeadObject',
  'ListObjectsV2',
  'PutObject',
] as const;

const noEngine = 'no engine in the place of AWS: pip install "moto[server]"';
const moto = await startMoto();
if (moto === undefined) console.warn(`SKIPPED, the functions as they are deployed: ${noEngine}`);
const directory = await temporaryDirectory();
const operations = (await describeOperations()).filter(({ name }) => (served as readonly string[]).includes(name));
const deployment =
  moto && (await DeploymentUnderTest.start(moto.endpoint, await bundleOperations(operations, directory)));
const client = deployment && sdk(deployment, alice, { maxAttempts: 1 });

beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  client?.destroy();
  await deployment?.stop();
  await moto?.stop();
  await rm(directory, { recursive: true });
});

describe('the functions, with a client of S3 before them', () => {
  const Bucket = 'through-functions';
  // Through moto every write takes its time.
  const timeout = 60_000;

  it('create a bucket', async () => {
    await client!.send(new CreateBucketCommand({ Bucket }));
    const again = sdk(deployment!, bob, { maxAttempts: 1 }).send(new CreateBucketCommand({ Bucket }));
    await expect(again).rejects.toEqual(s3Error('BucketAlreadyExists', 409));
  });

  it(
    'keep the bytes of objects, whatever they are called',
    async () => {
      const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index & 255));
      for (const Key of ['plain', 'a+b c', '/leading//and trailing/', 'ü€/%2F%25', './../x', "!'()*~:@&=,;$?#[]"]) {
        await client!.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));
        const { Body, ContentLength } = await client!.send(new GetObjectCommand({ Bucket, Key }));
        expect(ContentLength).toBe(bytes.length);
        expect(Buffer.from(await Body!.transformToByteArray()).equals(bytes)).toBe(true);
      }
    },
    timeout,
  );

  it('take a body in chunks with a checksum after it', async () => {
    const Body = Readable.from([Buffer.from('first '), Buffer.from('second')]);
    const put = new PutObjectCommand({ Bucket, Key: 'streamed', Body, ContentLength: 12, ChecksumAlgorithm: 'CRC32' });
    expect((await client!.send(put)).ChecksumCRC32).toBeDefined();
    const { Body: stored } = await client!.send(new GetObjectCommand({ Bucket, Key: 'streamed', Range: 'bytes=6-' }));
    expect(await stored!.transformToString()).toBe('second');
  });

  it('take an empty one', async () => {
    await client!.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: '' }));
    const { Body } = await client!.send(new GetObjectCommand({ Bucket, Key: 'empty' }));
    expect(await Body!.transformToString()).toBe('');
  });

  it('list, with odd characters in the query', async () => {
    const list = new ListObjectsV2Command({ Bucket, Prefix: 'a+b c', MaxKeys: 1 });
    expect((await client!.send(list)).Contents).toMatchObject([{ Key: 'a+b c', Size: 100_000 }]);
    const paged: string[] = [];
    for (let ContinuationToken: string | undefined; ;) {
      const page = await client!.send(new ListObjectsV2Command({ Bucket, MaxKeys: 3, ContinuationToken }));
      paged.push(...page.Contents!.map(({ Key }) => Key!));
      if (!page.IsTruncated) break;
      ContinuationToken = page.NextContinuationToken;
    }
    expect(paged).toHaveLength(8);
  });

  it('answer HEAD, though API Gateway keeps the length to itself', async () => {
    const head = await client!.send(new HeadObjectCommand({ Bucket, Key: 'plain' }));
    expect(head.ETag).toMatch(/^"[0-9a-f]{32}"$/);
    expect(head.ContentLength).toBeUndefined();
    const missing = client!.send(new HeadObjectCommand({ Bucket, Key: 'missing' }));
    await expect(missing).rejects.toEqual(bodilessError(404));
  });

  it('refuse with the errors of S3', async () => {
    const missing = client!.send(new GetObjectCommand({ Bucket, Key: 'missing' }));
    await expect(missing).rejects.toEqual(s3Error('NoSuchKey', 404));
    const forged = sdk(deployment!, { ...alice, secretAccessKey: 'guessed' }, { maxAttempts: 1 });
    const refused = forged.send(new ListObjectsV2Command({ Bucket }));
    await expect(refused).rejects.toEqual(s3Error('SignatureDoesNotMatch', 403));
  });

  it(
    'delete',
    async () => {
      await expect(client!.send(new DeleteBucketCommand({ Bucket }))).rejects.toEqual(s3Error('BucketNotEmpty', 409));
      const { Contents } = await client!.send(new ListObjectsV2Command({ Bucket }));
      for (const { Key } of Contents!) await client!.send(new DeleteObjectCommand({ Bucket, Key }));
      await client!.send(new DeleteBucketCommand({ Bucket }));
    },
    timeout,
  );

  it('log each request in one line', () => {
    expect(deployment!.requests('CreateBucket')).toMatchObject([
      { message: 'request', operation: 'CreateBucket', status: 200, user: 'alice', bucket: Bucket },
      { message: 'request', operation: 'CreateBucket', status: 409, user: 'bob', bucket: Bucket },
    ]);
  });

  it('ask the engines for nothing that their roles do not grant', async () => {
    const granted = await grantedActions();
    for (const name of served) {
      const used = deployment!.calls.actions.get(name)!;
      expect(used.size).toBeGreaterThan(0);
      expect([...used].filter((action) => !granted.get(name)!.has(action))).toEqual([]);
    }
    expect(deployment!.calls.actions.get('PutObject')).toContain('s3:PutObject');
    expect(deployment!.calls.actions.get('GetObject')).toContain('s3:GetObject');
  });
});

describe('the API without a router', () => {
  const host = 'abc123.execute-api.us-east-1.amazonaws.com';
  const call = (
    operation: string,
    request: Unsigned,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse> => {
    const { method, target, headers, body = '' } = signed(host, request, { key: alice });
    return deployment!.callApi({
      method,
      target: `/${operation}${target}`,
      headers: [...headers, ...Object.entries(more)],
      body: Buffer.from(body),
      sourceIp: '203.0.113.7',
    });
  };

  it('takes what is signed for the path behind the operation', async () => {
    const created = await call('CreateBucket', { method: 'PUT', path: '/without-router' });
    expect({ status: created.status, text: created.body.toString() }).toEqual({ status: 200, text: '' });
    expect(new Map(created.headers).get('location')).toBe('/without-router');
    const listed = await call('ListObjectsV2', { path: '/without-router', query: 'list-type=2&prefix=a%2Bb%20c%2F' });
    expect(listed.status).toBe(200);
    expect(listed.body.toString()).toContain('<Prefix>a+b c/</Prefix>');
    expect((await call('DeleteBucket', { method: 'DELETE', path: '/without-router' })).status).toBe(204);
  });

  it('refuses a request that is another operation than the function serves', async () => {
    const { status, body } = await call('CreateBucket', { method: 'DELETE', path: '/without-router' });
    expect(status).toBe(400);
    expect(body.toString()).toContain('<Code>InvalidRequest</Code>');
    expect(body.toString()).toContain(
      'The request is a DeleteBucket, but it was sent to where CreateBucket is served.',
    );
  });

  it('does not believe a client that passes for the router', async () => {
    const forged = {
      'x-stillage-edge': 'guess',
      'x-stillage-target': '/other?list-type=2',
      'x-stillage-host': host,
      'x-stillage-address': '127.0.0.1',
    };
    const { body } = await call('ListObjectsV2', { path: '/nowhere', query: 'list-type=2' }, forged);
    expect(body.toString()).toContain('<BucketName>nowhere</BucketName>');
  });

  it('answers as S3 does where nothing is', async () => {
    const { status, body } = await call('NoSuchOperation', { path: '/' });
    expect(status).toBe(501);
    expect(body.toString()).toContain('<Code>NotImplemented</Code>');
  });
});

/** Of each operation, what the role of its function allows in the template. */
async function grantedActions(): Promise<Map<string, Set<string>>> {
  const { api } = await synthesise(operations);
  const roles = new Map(resources(api, 'AWS::IAM::Role'));
  return new Map(
    resources(api, 'AWS::Lambda::Function').map(([id, { Properties }]) => {
      const {
        'Fn::GetAtt': [role],
      } = Properties['Role'] as { 'Fn::GetAtt': [string, string] };
      const { Policies } = roles.get(role)!.Properties as {
        Policies: { PolicyDocument: { Statement: { Action: string | string[] }[] } }[];
      };
      const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
      return [id.replace(/Function[0-9A-F]{8}$/, ''), new Set(statements.flatMap(({ Action }) => Action))];
    }),
  );
}
