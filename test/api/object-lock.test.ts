import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  UploadPartCommand,
  type ObjectLockLegalHoldStatus,
  type ObjectLockRule,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({ alone: true });
const locked = s3Error('AccessDenied', 403, 'Access Denied because object protected by object lock.');
const day = 86_400_000;
const inDays = (days: number): Date => new Date(Math.floor(Date.now() / 1000) * 1000 + days * day);

async function lockedBucket(DefaultRetention?: ObjectLockRule['DefaultRetention']): Promise<string> {
  const Bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  if (DefaultRetention) await configure(Bucket, { DefaultRetention });
  return Bucket;
}

function configure(Bucket: string, Rule?: ObjectLockRule) {
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
  return service.client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
}

function retain(
  Bucket: string,
  VersionId: string | undefined,
  Mode: 'GOVERNANCE' | 'COMPLIANCE' | undefined,
  RetainUntilDate: Date | undefined,
  BypassGovernanceRetention?: boolean,
) {
  const Retention = { Mode, RetainUntilDate };
  return service.client.send(
    new PutObjectRetentionCommand({ Bucket, Key: 'key', VersionId, Retention, BypassGovernanceRetention }),
  );
}

function hold(Bucket: string, Status: ObjectLockLegalHoldStatus, VersionId?: string) {
  return service.client.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'key', VersionId, LegalHold: { Status } }));
}

function remove(Bucket: string, VersionId: string | undefined, BypassGovernanceRetention?: boolean) {
  return service.client.send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId, BypassGovernanceRetention }));
}

async function putLocked(bucket: string, more: Partial<PutObjectCommandInput>): Promise<string> {
  return (await put(service.client, bucket, 'key', 'content', more)).VersionId!;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock-configure.html */
describe('the object lock of a bucket', () => {
  it('is enabled at its creation, with versioning, which cannot be suspended', async () => {
    const Bucket = await lockedBucket();
    expect(await service.client.send(new GetObjectLockConfigurationCommand({ Bucket }))).toMatchObject({
      ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' },
    });
    expect((await service.client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    await expect(setVersioning(service.client, Bucket, 'Suspended')).rejects.toEqual(
      s3Error(
        'InvalidBucketState',
        409,
        'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.',
      ),
    );
    await setVersioning(service.client, Bucket, 'Enabled');
  });

  it('is enabled for a bucket that exists, if its versioning is enabled', async () => {
    const Bucket = await service.bucket();
    await expect(configure(Bucket)).rejects.toEqual(s3Error('InvalidBucketState', 409));
    await setVersioning(service.client, Bucket, 'Suspended');
    await expect(configure(Bucket)).rejects.toEqual(s3Error('InvalidBucketState', 409));
    await setVersioning(service.client, Bucket, 'Enabled');
    await configure(Bucket);
    const suspended = { Bucket, VersioningConfiguration: { Status: 'Suspended' } } as const;
    await expect(service.client.send(new PutBucketVersioningCommand(suspended))).rejects.toEqual(
      s3Error('InvalidBucketState', 409),
    );
  });

  it('is not thought to be there by whoever creates a bucket that exists without one', async () => {
    const Bucket = await service.bucket();
    const again = service.client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    await expect(again).rejects.toEqual(s3Error('InvalidBucketState', 409));
  });

  it('has a default retention, or none', async () => {
    const Bucket = await lockedBucket({ Mode: 'GOVERNANCE', Years: 2 });
    const get = () => service.client.send(new GetObjectLockConfigurationCommand({ Bucket }));
    expect((await get()).ObjectLockConfiguration!.Rule!.DefaultRetention).toEqual({ Mode: 'GOVERNANCE', Years: 2 });
    await configure(Bucket, { DefaultRetention: { Mode: 'COMPLIANCE', Days: 36_500 } });
    expect((await get()).ObjectLockConfiguration!.Rule!.DefaultRetention).toEqual({ Mode: 'COMPLIANCE', Days: 36_500 });
    await configure(Bucket);
    expect((await get()).ObjectLockConfiguration).toEqual({ ObjectLockEnabled: 'Enabled' });
  });

  it.each([
    [{ Mode: 'GOVERNANCE', Days: 0 }, 'InvalidArgument', 'Default retention period must be a positive integer value.'],
    [
      { Mode: 'GOVERNANCE', Years: -1 },
      'InvalidArgument',
      'Default retention period must be a positive integer value.',
    ],
    [{ Mode: 'GOVERNANCE', Days: 36_501 }, 'InvalidArgument', 'Default retention period too large.'],
    [{ Mode: 'GOVERNANCE', Years: 101 }, 'InvalidArgument', 'Default retention period too large.'],
    [{ Mode: 'GOVERNANCE', Days: 1, Years: 1 }, 'MalformedXML', undefined],
    [{ Mode: 'GOVERNANCE' }, 'MalformedXML', undefined],
    [{ Mode: 'governance' as 'GOVERNANCE', Days: 1 }, 'MalformedXML', undefined],
  ] as const)('has no default like %o', async (rule, code, message) => {
    const bucket = await lockedBucket();
    await expect(configure(bucket, { DefaultRetention: rule })).rejects.toEqual(s3Error(code, 400, message));
  });
});

describe('a locked version', () => {
  it.each(['GOVERNANCE', 'COMPLIANCE'] as const)('in mode %s is not removed, alone or among others', async (mode) => {
    const Bucket = await lockedBucket();
    const until = inDays(1);
    const VersionId = await putLocked(Bucket, { ObjectLockMode: mode, ObjectLockRetainUntilDate: until });
    const free = (await put(service.client, Bucket, 'free', 'content')).VersionId!;
    await expect(remove(Bucket, VersionId)).rejects.toEqual(locked);
    const Objects = [
      { Key: 'key', VersionId },
      { Key: 'free', VersionId: free },
    ];
    const { Errors, Deleted } = await service.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Errors).toEqual([expect.objectContaining({ Key: 'key', VersionId, Code: 'AccessDenied' })]);
    expect(Deleted).toEqual([{ Key: 'free', VersionId: free }]);
    expect(await read(service.client, Bucket, 'key', VersionId)).toBe('content');
    await expect(service.client.send(new DeleteBucketCommand({ Bucket }))).rejects.toEqual(
      s3Error('BucketNotEmpty', 409),
    );
  });

  it('is hidden by a marker, which may be removed', async () => {
    const bucket = await lockedBucket({ Mode: 'COMPLIANCE', Days: 1 });
    const id = await putLocked(bucket, {});
    const marker = await remove(bucket, undefined);
    expect(marker.DeleteMarker).toBe(true);
    expect((await versionsOf(service.client, bucket)).map((one) => [one.id, one.isMarker, one.isLatest])).toEqual(
      expect.arrayContaining([
        [id, false, false],
        [marker.VersionId, true, true],
      ]),
    );
    await remove(bucket, marker.VersionId);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('in governance mode yields to who may bypass it and asks to, in compliance mode to nobody', async () => {
    const bucket = await lockedBucket();
    const until = { ObjectLockRetainUntilDate: inDays(1) };
    const governed = await putLocked(bucket, { ObjectLockMode: 'GOVERNANCE', ...until });
    const compliant = await putLocked(bucket, { ObjectLockMode: 'COMPLIANCE', ...until });
    await expect(remove(bucket, compliant, true)).rejects.toEqual(locked);
    await remove(bucket, governed, true);
    expect((await versionsOf(service.client, bucket)).map(({ id }) => id)).toEqual([compliant]);
  });

  it('under a legal hold yields to nobody until the hold is lifted', async () => {
    const bucket = await lockedBucket();
    const id = await putLocked(bucket, { ObjectLockLegalHoldStatus: 'ON' });
    await expect(remove(bucket, id, true)).rejects.toEqual(locked);
    await hold(bucket, 'OFF', id);
    await remove(bucket, id);
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });
});

describe('a retention', () => {
  it('is lengthened by anybody who may set one, but not shortened, lifted or changed', async () => {
    const bucket = await lockedBucket();
    const [shorter, until] = [inDays(1), inDays(2)];
    const id = await putLocked(bucket, { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until });
    await expect(retain(bucket, id, 'GOVERNANCE', shorter)).rejects.toEqual(locked);
    await expect(retain(bucket, id, undefined, undefined)).rejects.toEqual(locked);
    await expect(retain(bucket, id, 'COMPLIANCE', inDays(3))).rejects.toEqual(locked);
    await retain(bucket, id, 'GOVERNANCE', until);
    await retain(bucket, id, 'GOVERNANCE', inDays(3));
    await retain(bucket, id, 'COMPLIANCE', shorter, true);
    for (const [mode, date] of [
      ['COMPLIANCE', new Date(shorter.getTime() - 1000)],
      ['GOVERNANCE', inDays(9)],
      [undefined, undefined],
    ] as const) {
      await expect(retain(bucket, id, mode, date, true)).rejects.toEqual(locked);
    }
    await retain(bucket, id, 'COMPLIANCE', inDays(4));
  });

  it('is compared at whole seconds', async () => {
    const bucket = await lockedBucket();
    const second = inDays(1).getTime();
    const id = await putLocked(bucket, {
      ObjectLockMode: 'COMPLIANCE',
      ObjectLockRetainUntilDate: new Date(second + 900),
    });
    await retain(bucket, id, 'COMPLIANCE', new Date(second + 100));
    const { Retention } = await service.client.send(
      new GetObjectRetentionCommand({ Bucket: bucket, Key: 'key', VersionId: id }),
    );
    expect(Retention).toEqual({ Mode: 'COMPLIANCE', RetainUntilDate: new Date(second) });
  });

  it('is the default of the bucket for what has none of its own, however it is written', async () => {
    const Bucket = await lockedBucket({ Mode: 'GOVERNANCE', Days: 3 });
    const until = async (Key: string) => {
      const { Retention } = await service.client.send(new GetObjectRetentionCommand({ Bucket, Key }));
      return [Retention!.Mode, Math.round((Retention!.RetainUntilDate!.getTime() - Date.now()) / day)];
    };
    await put(service.client, Bucket, 'key', 'content');
    await service.client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/key` }));
    const upload = { Bucket, Key: 'parts' };
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand(upload));
    const part = { ...upload, UploadId, PartNumber: 1 };
    const { ETag, ChecksumCRC32 } = await service.client.send(new UploadPartCommand({ ...part, Body: 'part' }));
    const MultipartUpload = { Parts: [{ ETag, ChecksumCRC32, PartNumber: 1 }] };
    await service.client.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    const rename = { 'x-amz-rename-source': `/${Bucket}/copy` };
    const renamed = await service.send({
      method: 'PUT',
      path: `/${Bucket}/renamed`,
      query: 'renameObject=',
      headers: rename,
    });
    expect(renamed.status, renamed.text).toBe(200);
    for (const key of ['key', 'parts', 'renamed']) expect(await until(key)).toEqual(['GOVERNANCE', 3]);
    const own = { ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: inDays(1) } as const;
    await put(service.client, Bucket, 'own', 'content', own);
    expect(await until('own')).toEqual(['COMPLIANCE', 1]);
    // A version that was written before the default has none.
    await configure(Bucket);
    await put(service.client, Bucket, 'later', 'content');
    await expect(until('later')).rejects.toEqual(s3Error('NoSuchObjectLockConfiguration', 404));
  });
});

describe('a lock', () => {
  it('is given by the headers of every kind of upload, and shown by GET and HEAD', async () => {
    const Bucket = await lockedBucket();
    const until = inDays(1);
    const asked = {
      ObjectLockMode: 'GOVERNANCE',
      ObjectLockRetainUntilDate: until,
      ObjectLockLegalHoldStatus: 'ON',
    } as const;
    await put(service.client, Bucket, 'put', 'content', asked);
    const CopySource = `${Bucket}/put`;
    await service.client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource, ...asked }));
    const upload = { Bucket, Key: 'parts' };
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand({ ...upload, ...asked }));
    const part = { ...upload, UploadId, PartNumber: 1 };
    const { ETag, ChecksumCRC32 } = await service.client.send(new UploadPartCommand({ ...part, Body: 'part' }));
    const MultipartUpload = { Parts: [{ ETag, ChecksumCRC32, PartNumber: 1 }] };
    await service.client.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    for (const Key of ['put', 'copy', 'parts']) {
      expect(await service.client.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject(asked);
      expect(await service.client.send(new GetObjectCommand({ Bucket, Key }))).toMatchObject(asked);
      const { LegalHold } = await service.client.send(new GetObjectLegalHoldCommand({ Bucket, Key }));
      expect(LegalHold).toEqual({ Status: 'ON' });
    }
    // A copy does not take the lock of its source.
    await service.client.send(new CopyObjectCommand({ Bucket, Key: 'plain', CopySource }));
    const plain = await service.client.send(new HeadObjectCommand({ Bucket, Key: 'plain' }));
    expect([plain.ObjectLockMode, plain.ObjectLockLegalHoldStatus]).toEqual([undefined, undefined]);
    const ObjectAttributes = ['ObjectSize'] as const;
    const attributes = new GetObjectAttributesCommand({ Bucket, Key: 'put', ObjectAttributes: [...ObjectAttributes] });
    expect((await service.client.send(attributes)).ObjectSize).toBe(7);
  });

  it('needs a bucket with object lock', async () => {
    const Bucket = await service.bucket();
    const missing = (words: string) => s3Error('InvalidRequest', 400, words);
    const asked = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(1) } as const;
    const upload = missing('Bucket is missing ObjectLockConfiguration');
    await expect(put(service.client, Bucket, 'key', 'content', asked)).rejects.toEqual(upload);
    await expect(put(service.client, Bucket, 'key', '', { ObjectLockLegalHoldStatus: 'OFF' })).rejects.toEqual(upload);
    const create = new CreateMultipartUploadCommand({ Bucket, Key: 'key', ...asked });
    await expect(service.client.send(create)).rejects.toEqual(upload);
    await put(service.client, Bucket, 'key', 'content');
    const copy = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/key`, ...asked });
    await expect(service.client.send(copy)).rejects.toEqual(upload);
    const document = missing('Bucket is missing Object Lock Configuration');
    await expect(retain(Bucket, undefined, 'GOVERNANCE', inDays(1))).rejects.toEqual(document);
    await expect(hold(Bucket, 'ON')).rejects.toEqual(document);
    await expect(service.client.send(new GetObjectRetentionCommand({ Bucket, Key: 'key' }))).rejects.toEqual(document);
    await expect(service.client.send(new GetObjectLegalHoldCommand({ Bucket, Key: 'key' }))).rejects.toEqual(document);
  });

  it.each([
    [{ mode: 'GOVERNANCE' }, 'x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied'],
    [
      { date: '2100-01-01T00:00:00Z' },
      'x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied',
    ],
    [{ mode: 'governance', date: '2100-01-01T00:00:00Z' }, 'Unknown wormMode directive.'],
    [{ mode: 'GOVERNANCE', date: '2001-01-01T00:00:00Z' }, 'The retain until date must be in the future!'],
    [{ mode: 'GOVERNANCE', date: 'tomorrow' }, 'The retain until date must be provided in ISO 8601 format'],
    [
      { mode: 'GOVERNANCE', date: '9999-12-31T23:59:59-01:00' },
      'The retain until date must be provided in ISO 8601 format',
    ],
    [
      { mode: 'GOVERNANCE', date: '292277026597-01-01T00:00:00Z' },
      'The retain until date must be provided in ISO 8601 format',
    ],
    [{ hold: 'on' }, "Legal Hold must be either of 'ON' or 'OFF'"],
  ])('is not given by headers like %o', async ({ mode, date, hold: status }: Record<string, string>, message) => {
    const bucket = await lockedBucket();
    const headers = {
      'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==',
      ...(mode && { 'x-amz-object-lock-mode': mode }),
      ...(date && { 'x-amz-object-lock-retain-until-date': date }),
      ...(status && { 'x-amz-object-lock-legal-hold': status }),
    };
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, body: '', headers });
    expect([response.status, response.text]).toEqual([400, expect.stringContaining('<Code>InvalidArgument</Code>')]);
    expect(response.text).toContain(`<Message>${message}</Message>`);
    expect(await versionsOf(service.client, bucket)).toEqual([]);
  });

  it('is given only with a digest of the bytes', async () => {
    const Bucket = await lockedBucket();
    const headers = { 'x-amz-object-lock-legal-hold': 'ON' };
    const request = { method: 'PUT', path: `/${Bucket}/key`, body: '', headers };
    const response = await service.send(request);
    expect([response.status, response.text]).toEqual([
      400,
      expect.stringContaining(
        '<Message>Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters</Message>',
      ),
    ]);
    const crc = await service.send({ ...request, headers: { ...headers, 'x-amz-checksum-crc32': 'AAAAAA==' } });
    expect(crc.status, crc.text).toBe(200);
    const streamed = new PutObjectCommand({ Bucket, Key: 'k', Body: 'streamed', ObjectLockLegalHoldStatus: 'ON' });
    await service.client.send(streamed);
  });
});
