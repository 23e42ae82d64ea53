import { createHash, randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketAclCommand,
  PutBucketEncryptionCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type ServerSideEncryptionRule,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { isInspectable, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({ alone: true });

const notFound = s3Error('ServerSideEncryptionConfigurationNotFoundError', 404);
const denied = s3Error('AccessDenied', 403);
const aes256: ServerSideEncryptionRule = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } };

/** A key of a customer's own, as requests bring it. */
function customerKey() {
  const key = randomBytes(32);
  return {
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: key.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
  };
}
const customer = customerKey();

async function encrypt(bucket: string, rule = aes256): Promise<void> {
  const configuration = { Rules: [rule] };
  await service.client.send(
    new PutBucketEncryptionCommand({ Bucket: bucket, ServerSideEncryptionConfiguration: configuration }),
  );
}

async function encryptionOf(bucket: string, client = service.client): Promise<readonly ServerSideEncryptionRule[]> {
  const answer = await client.send(new GetBucketEncryptionCommand({ Bucket: bucket }));
  return answer.ServerSideEncryptionConfiguration!.Rules!;
}

async function kindOf(bucket: string, name: string): Promise<string | undefined> {
  return (await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: name }))).ServerSideEncryption;
}

/** Posts a form that brings a customer's key. */
function postWith(bucket: string, name: string, sse: ReturnType<typeof customerKey>): Promise<RawResponse> {
  const start = 'x-amz-server-side-encryption-customer-';
  const fields = [
    ['key', name],
    [`${start}algorithm`, sse.SSECustomerAlgorithm],
    [`${start}key`, sse.SSECustomerKey],
    [`${start}key-md5`, sse.SSECustomerKeyMD5],
  ] as const;
  const policy = signedV4(service.alice, [{ bucket }, ...fields.map(([field, value]) => ({ [field]: value }))]);
  const body = formBody([...fields, ...policy], { content: 'content' });
  return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType }, body });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html */
describe('the default encryption of a bucket', () => {
  it('is kept as it was put, replaced, and taken away', async () => {
    const bucket = await service.bucket();
    await expect(encryptionOf(bucket)).rejects.toEqual(notFound);
    await encrypt(bucket);
    expect(await encryptionOf(bucket)).toEqual([aes256]);
    const other = { ...aes256, BucketKeyEnabled: true, BlockedEncryptionTypes: { EncryptionType: ['NONE' as const] } };
    await encrypt(bucket, other);
    expect(await encryptionOf(bucket)).toEqual([other]);
    const answer = await service.client.send(new DeleteBucketEncryptionCommand({ Bucket: bucket }));
    expect(answer.$metadata.httpStatusCode).toBe(204);
    await expect(encryptionOf(bucket)).rejects.toEqual(notFound);
    await service.client.send(new DeleteBucketEncryptionCommand({ Bucket: bucket }));
  });

  const document = (rule: string): string =>
    `<ServerSideEncryptionConfiguration>${rule}</ServerSideEncryptionConfiguration>`;
  const algorithm = (name: string, more = ''): string =>
    `<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>${name}</SSEAlgorithm>${more}</ApplyServerSideEncryptionByDefault></Rule>`;

  it.each([
    ['no rule', document(''), 400, 'MalformedXML'],
    ['an empty rule', document('<Rule/>'), 400, 'MalformedXML'],
    ['two rules', document(algorithm('AES256') + algorithm('AES256')), 400, 'MalformedXML'],
    ['another algorithm', document(algorithm('ROT13')), 400, 'MalformedXML'],
    ['KMS', document(algorithm('aws:kms')), 501, 'NotImplemented'],
    ['KMS twice over', document(algorithm('aws:kms:dsse')), 501, 'NotImplemented'],
    ['a key', document(algorithm('AES256', '<KMSMasterKeyID>k</KMSMasterKeyID>')), 400, 'InvalidArgument'],
    [
      'what is not a truth value',
      document('<Rule><BucketKeyEnabled>maybe</BucketKeyEnabled></Rule>'),
      400,
      'MalformedXML',
    ],
    [
      'what nobody can block',
      document('<Rule><BlockedEncryptionTypes><EncryptionType>AES256</EncryptionType></BlockedEncryptionTypes></Rule>'),
      400,
      'MalformedXML',
    ],
  ])('cannot be %s', async (_, body, status, code) => {
    const bucket = await service.bucket();
    await encrypt(bucket);
    expectError(await service.send({ method: 'PUT', path: `/${bucket}`, query: 'encryption', body }), status, code);
    expect(await encryptionOf(bucket)).toEqual([aes256]);
  });

  it('is for the project of the owner, and for whom the policy allows it', async () => {
    const bucket = await service.bucket();
    await encrypt(bucket);
    // No grant is one to the settings of a bucket.
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, GrantFullControl: `id=${accounts[1].id}` }));
    await expect(encryptionOf(bucket, service.stranger)).rejects.toEqual(denied);
    const change = { Bucket: bucket, ServerSideEncryptionConfiguration: { Rules: [aes256] } };
    await expect(service.stranger.send(new PutBucketEncryptionCommand(change))).rejects.toEqual(denied);
    await expect(service.stranger.send(new DeleteBucketEncryptionCommand(change))).rejects.toEqual(denied);
    const Policy = JSON.stringify({
      Statement: [
        {
          ...{ Effect: 'Allow', Principal: '*', Resource: `arn:aws:s3:::${bucket}` },
          Action: ['s3:GetEncryptionConfiguration', 's3:PutEncryptionConfiguration'],
        },
      ],
    });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    expect(await encryptionOf(bucket, service.stranger)).toEqual([aes256]);
    await service.stranger.send(new PutBucketEncryptionCommand(change));
    await service.stranger.send(new DeleteBucketEncryptionCommand(change));
    await expect(encryptionOf(bucket)).rejects.toEqual(notFound);
  });
});

describe('objects of a bucket with default encryption', () => {
  it('are encrypted when they are put, and say so', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'before', 'content');
    await encrypt(bucket);
    const answer = await put(service.client, bucket, 'after', 'content');
    expect(answer.ServerSideEncryption).toBe('AES256');
    expect([await kindOf(bucket, 'before'), await kindOf(bucket, 'after')]).toEqual([undefined, 'AES256']);
    const read = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'after' }));
    expect(await read.Body!.transformToString()).toBe('content');
  });

  it('lie on the disk as ciphertext', async ({ skip }) => {
    if (!isInspectable) skip('the service was not started here: what it keeps cannot be looked at');
    const bucket = await service.bucket();
    await encrypt(bucket);
    const secret = `kept from those who read disks ${randomBytes(8).toString('hex')}`;
    await put(service.client, bucket, 'k', secret);
    expect((await service.kept()).filter((bytes) => bytes.includes(secret))).toEqual([]);
  });

  it('are encrypted when they are copied, and in place too', async () => {
    const [plain, bucket] = [await service.bucket(), await service.bucket()];
    await put(service.client, plain, 'k', 'content');
    await put(service.client, bucket, 'k', 'content');
    await encrypt(bucket);
    const copy = { Bucket: bucket, Key: 'copy', CopySource: `${plain}/k` };
    expect((await service.client.send(new CopyObjectCommand(copy))).ServerSideEncryption).toBe('AES256');
    await service.client.send(new CopyObjectCommand({ Bucket: bucket, Key: 'k', CopySource: `${bucket}/k` }));
    expect([await kindOf(bucket, 'copy'), await kindOf(bucket, 'k')]).toEqual(['AES256', 'AES256']);
    // It is the target's bucket that counts.
    await service.client.send(new CopyObjectCommand({ Bucket: plain, Key: 'back', CopySource: `${bucket}/k` }));
    expect(await kindOf(plain, 'back')).toBeUndefined();
  });

  it('are encrypted part by part', async () => {
    const bucket = await service.bucket();
    await encrypt(bucket);
    const upload = { Bucket: bucket, Key: 'k' };
    const created = await service.client.send(new CreateMultipartUploadCommand(upload));
    const place = { ...upload, UploadId: created.UploadId! };
    await put(service.client, bucket, 'source', 'content');
    const part = await service.client.send(new UploadPartCommand({ ...place, PartNumber: 1, Body: 'content' }));
    const source = { ...place, PartNumber: 1, CopySource: `${bucket}/source` };
    const copied = await service.client.send(new UploadPartCopyCommand(source));
    const parts = { Parts: [{ PartNumber: 1, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32 }] };
    const done = await service.client.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload: parts }));
    const told = [created, part, copied, done].map(({ ServerSideEncryption }) => ServerSideEncryption);
    expect(told).toEqual(Array(4).fill('AES256'));
    expect(await kindOf(bucket, 'k')).toBe('AES256');
  });

  it('are encrypted when a form brings them', async () => {
    const bucket = await service.bucket();
    await encrypt(bucket);
    const { url, fields } = await createPresignedPost(service.client, { Bucket: bucket, Key: 'k' });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob(['content']));
    const answer = await fetch(url.replace(/^https?:\/\/[^/]*/, service.url), { method: 'POST', body: form });
    expect([answer.status, answer.headers.get('x-amz-server-side-encryption')]).toEqual([204, 'AES256']);
    expect(await kindOf(bucket, 'k')).toBe('AES256');
  });

  it("have a customer's key where one is brought", async () => {
    const bucket = await service.bucket();
    await encrypt(bucket);
    const answer = await service.client.send(
      new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: 'x', ...customer }),
    );
    const copy = new CopyObjectCommand({ Bucket: bucket, Key: 'copy', CopySource: `${bucket}/plain`, ...customer });
    await put(service.client, bucket, 'plain', 'content');
    const copied = await service.client.send(copy);
    const begun = await service.client.send(
      new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'parts', ...customer }),
    );
    const formed = await postWith(bucket, 'form', customer);
    expect(formed.status).toBe(204);
    const head = new HeadObjectCommand({ Bucket: bucket, Key: 'form', ...customer });
    for (const one of [answer, copied, begun, await service.client.send(head)])
      expect([one.ServerSideEncryption, one.SSECustomerAlgorithm]).toEqual([undefined, 'AES256']);
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/blocking-unblocking-s3-c-encryption-gpb.html */
describe("a bucket that blocks customers' keys", () => {
  const blocked = (type: 'SSE-C' | 'NONE') => ({ ...aes256, BlockedEncryptionTypes: { EncryptionType: [type] } });

  it('takes none in any kind of upload, but still reads with them', async () => {
    const { client } = service;
    const bucket = await service.bucket();
    const object = { Bucket: bucket, Key: 'k', ...customer };
    await client.send(new PutObjectCommand({ ...object, Body: 'content' }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
    const { ETag, ChecksumCRC32 } = await client.send(
      new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body: 'content' }),
    );
    await encrypt(bucket, blocked('SSE-C'));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
    const copy = { ...object, CopySource: `${bucket}/other` };
    await put(client, bucket, 'other', 'content');
    for (const write of [
      () => client.send(new PutObjectCommand({ ...object, Body: 'other content' })),
      () => client.send(new CopyObjectCommand(copy)),
      () => client.send(new CreateMultipartUploadCommand(object)),
      () => client.send(new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body: 'content' })),
      () => client.send(new UploadPartCopyCommand({ ...copy, UploadId, PartNumber: 1 })),
      () => client.send(new CompleteMultipartUploadCommand({ Bucket: bucket, Key: 'k', UploadId, MultipartUpload })),
    ]) {
      await expect(write()).rejects.toEqual(denied);
    }
    expectError(await postWith(bucket, 'k', customer), 403, 'AccessDenied');
    const read = await client.send(new GetObjectCommand(object));
    expect(await read.Body!.transformToString()).toBe('content');
    await encrypt(bucket, blocked('NONE'));
    await client.send(new PutObjectCommand({ ...object, Body: 'other content' }));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
describe('a copy onto itself', () => {
  it('may take encryption away', async () => {
    const bucket = await service.bucket();
    const target = { Bucket: bucket, Key: 'k', CopySource: `${bucket}/k` };
    await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: 'content', ...customer }));
    const source = Object.fromEntries(Object.entries(customer).map(([name, value]) => [`CopySource${name}`, value]));
    await service.client.send(new CopyObjectCommand({ ...target, ...source }));
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'k' }));
    expect([head.SSECustomerAlgorithm, head.ServerSideEncryption]).toEqual([undefined, undefined]);
    await service.client.send(new CopyObjectCommand({ ...target, ServerSideEncryption: 'AES256' }));
    expect(await kindOf(bucket, 'k')).toBe('AES256');
    await service.client.send(new CopyObjectCommand(target));
    expect(await kindOf(bucket, 'k')).toBeUndefined();
    await expect(service.client.send(new CopyObjectCommand(target))).rejects.toEqual(s3Error('InvalidRequest', 400));
    const read = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'k' }));
    expect(await read.Body!.transformToString()).toBe('content');
  });

  const other = customerKey();
  const managed = { ServerSideEncryption: 'AES256' } as const;
  it.each([
    ["none to a customer's key", {}, customer],
    ["the service's key to a customer's", managed, customer],
    ["a customer's key to the service's", customer, managed],
    ["a customer's key to another", customer, other],
  ])('may change %s', async (_, before, after) => {
    const { client } = service;
    const target = { Bucket: await service.bucket(), Key: 'k' };
    await client.send(new PutObjectCommand({ ...target, Body: 'content', ...before }));
    const source = Object.fromEntries(
      Object.entries('SSECustomerKey' in before ? before : {}).map(([name, value]) => [`CopySource${name}`, value]),
    );
    const CopySource = `${target.Bucket}/k`;
    await client.send(new CopyObjectCommand({ ...target, CopySource, ...source, ...after }));
    const got = await client.send(new GetObjectCommand({ ...target, ...('SSECustomerKey' in after && after) }));
    expect([got.SSECustomerKeyMD5, got.ServerSideEncryption, await got.Body!.transformToString()]).toEqual([
      'SSECustomerKeyMD5' in after ? after.SSECustomerKeyMD5 : undefined,
      after === managed ? 'AES256' : undefined,
      'content',
    ]);
  });

  it('changes nothing if the default of the bucket is what the object has already', async () => {
    const { client } = service;
    const bucket = await service.bucket();
    const target = { Bucket: bucket, Key: 'k', CopySource: `${bucket}/k` };
    await encrypt(bucket);
    await put(client, bucket, 'k', 'content');
    await expect(client.send(new CopyObjectCommand(target))).rejects.toEqual(s3Error('InvalidRequest', 400));
    // A copy onto itself that specifies the encryption counts as a change.
    await client.send(new CopyObjectCommand({ ...target, ...managed }));
    await client.send(new DeleteBucketEncryptionCommand({ Bucket: bucket }));
    await client.send(new CopyObjectCommand(target));
    expect(await kindOf(bucket, 'k')).toBeUndefined();
  });
});
