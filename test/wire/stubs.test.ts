import {
  GetBucketAccelerateConfigurationCommand,
  GetBucketEncryptionCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyStatusCommand,
  GetBucketReplicationCommand,
  GetBucketRequestPaymentCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/**
 * Sub-resources that clients probe. Terraform reads some of every bucket, and treats any other response as a failure; and one that is not
 * implemented must never be mistaken for the plain operation on the bucket or the object.
 */

const service = serviceUnderTest();

let Bucket: string;
beforeAll(async () => {
  Bucket = await service.lastingBucket();
  await put(service.client, Bucket, 'key', 'content');
});

/** Expects that a request has left everything as it was. */
async function expectUntouched(): Promise<void> {
  expect((await versionsOf(service.client, Bucket)).map(({ key }) => key)).toEqual(['key']);
  expect(await read(service.client, Bucket, 'key')).toBe('content');
}

describe('a client that reads what no bucket has', () => {
  it('gets the answer for a feature never used', async () => {
    const { client } = service;
    const payment = await client.send(new GetBucketRequestPaymentCommand({ Bucket }));
    expect(payment.Payer).toBe('BucketOwner');
    const acceleration = await client.send(new GetBucketAccelerateConfigurationCommand({ Bucket }));
    expect(acceleration.Status).toBeUndefined();
    const logging = await client.send(new GetBucketLoggingCommand({ Bucket }));
    expect(logging.LoggingEnabled).toBeUndefined();
    const { $metadata, ...notifications } = await client.send(
      new GetBucketNotificationConfigurationCommand({ Bucket }),
    );
    expect($metadata.httpStatusCode).toBe(200);
    expect(Object.values(notifications).filter((one) => one !== undefined)).toEqual([]);
  });

  it.each([
    [GetBucketEncryptionCommand, 'ServerSideEncryptionConfigurationNotFoundError'],
    [GetBucketReplicationCommand, 'ReplicationConfigurationNotFoundError'],
    [GetObjectLockConfigurationCommand, 'ObjectLockConfigurationNotFoundError'],
    [GetBucketOwnershipControlsCommand, 'OwnershipControlsNotFoundError'],
    [GetPublicAccessBlockCommand, 'NoSuchPublicAccessBlockConfiguration'],
    [GetBucketPolicyStatusCommand, 'NoSuchBucketPolicy'],
  ])('gets 404 where there is no such document: %o', async (Command, code) => {
    const command = new (Command as typeof GetBucketEncryptionCommand)({ Bucket });
    const failure: unknown = await service.client.send(command).catch((error: unknown) => error);
    expect(failure).toEqual(s3Error(code, 404));
    expect(failure).toMatchObject({ BucketName: Bucket });
  });
});

/** The sub-resources of features that are not there, with the methods that have another answer than 501. */
const absent: Readonly<Record<'bucket' | 'object', Readonly<Record<string, Readonly<Record<string, number>>>>>> = {
  bucket: {
    ...Object.fromEntries(['location', 'accelerate'].map((name) => [name, { GET: 200, POST: 405 }])),
    // Any other document is malformed.
    ...Object.fromEntries(
      ['requestPayment', 'logging', 'notification'].map((name) => [name, { GET: 200, PUT: 400, POST: 405 }]),
    ),
    replication: { GET: 404, POST: 405 },
    ...Object.fromEntries(
      ['analytics', 'inventory', 'metrics', 'intelligent-tiering', 'abac', 'metadataInventoryTable']
        .concat('metadataJournalTable', 'session', 'torrent', 'select', 'restore', 'append')
        .map((name) => [name, { POST: 405 }]),
    ),
    metadataConfiguration: {},
    metadataTable: {},
  },
  object: {
    ...Object.fromEntries(
      ['encryption', 'torrent', 'intelligent-tiering', 'session'].map((name) => [name, { POST: 405 }]),
    ),
    select: {},
    restore: {},
    append: {},
  },
};

describe.each(['bucket', 'object'] as const)('a sub-resource of a feature that is not there, of a %s', (level) => {
  it.each(Object.entries(absent[level]))('is never taken for the plain operation: ?%s', async (name, others) => {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      const path = level === 'bucket' ? `/${Bucket}` : `/${Bucket}/key`;
      for (const query of [name, `${name}=`, `${name}=x&id=1`, `id=1&${name}`]) {
        const response = await service.send({ method, path, query, ...(method !== 'GET' && { body: 'other' }) });
        const status = others[method] ?? 501;
        expect(response.status, `${method} ?${query}: ${response.text}`).toBe(status);
        if (status === 501) expectError(response, 501, 'NotImplemented');
        if (status === 405) expectError(response, 405, 'MethodNotAllowed');
      }
    }
    const copying = { 'x-amz-copy-source': `${Bucket}/key` };
    const copied = await service.send({ method: 'PUT', path: `/${Bucket}/target`, query: name, headers: copying });
    expectError(copied, 501, 'NotImplemented');
    await expectUntouched();
  });
});

it('what is not built is not told to strangers, who learn nothing of the object either', async () => {
  for (const path of [`/${Bucket}/key`, `/${Bucket}/missing`]) {
    const response = await service.sendUnsigned({ method: 'PUT', path, query: 'retention', body: 'other' });
    expect([403, 501]).toContain(response.status);
    expect(textOf(response.text, 'Code')).toMatch(/^(?:AccessDenied|NotImplemented)$/);
  }
  await expectUntouched();
});
