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
import { expectError, s3Error, textOf } from '../support/expect-error.ts';
import { put, read, versionsOf } from '../support/objects.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';

/**
 * Sub-resources that clients probe. Terraform reads some of every bucket, and takes any other answer for a failure; and what
 * is not built must never be taken for the plain operation on the bucket or the object.
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

/** Which methods a sub-resource has in S3: these are not built. Others it does not have there either. */
const unbuilt = {
  bucket: {
    requestPayment: ['PUT'],
    accelerate: ['PUT'],
    logging: ['PUT'],
    notification: ['PUT'],
    encryption: ['PUT', 'DELETE'],
    replication: ['PUT', 'DELETE'],
    'object-lock': ['PUT'],
    ownershipControls: ['PUT', 'DELETE'],
    publicAccessBlock: ['PUT', 'DELETE'],
    analytics: ['GET', 'PUT', 'DELETE'],
    inventory: ['GET', 'PUT', 'DELETE'],
    metrics: ['GET', 'PUT', 'DELETE'],
    'intelligent-tiering': ['GET', 'PUT', 'DELETE'],
    abac: ['GET', 'PUT'],
    metadataConfiguration: ['GET', 'POST', 'DELETE'],
    metadataTable: ['GET', 'POST', 'DELETE'],
    metadataInventoryTable: ['PUT'],
    metadataJournalTable: ['PUT'],
    session: ['GET'],
  },
  object: {
    encryption: ['PUT'],
    torrent: ['GET'],
    select: ['POST'],
    restore: ['POST'],
    retention: ['GET', 'PUT'],
    'legal-hold': ['GET', 'PUT'],
    append: ['PUT', 'POST'],
  },
} as const;

/** Those that are answered by a stub. */
const built: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ['requestPayment', 'accelerate', 'logging', 'notification', 'encryption', 'replication', 'object-lock']
    .concat('ownershipControls', 'publicAccessBlock')
    .map((name) => [name, ['GET']]),
);

describe.each(Object.entries(unbuilt))('a sub-resource that is not built, of a %s', (level, resources) => {
  it.each(Object.entries(resources as Record<string, readonly string[]>))(
    'is never taken for the plain operation: ?%s',
    async (name, methods) => {
      for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
        if (level === 'bucket' && built[name]?.includes(method)) continue;
        const path = level === 'bucket' ? `/${Bucket}` : `/${Bucket}/key`;
        for (const query of [name, `${name}=`, `${name}=x&id=1`, `id=1&${name}`]) {
          const request = { method, path, query, ...(method !== 'GET' && { body: 'other' }) };
          const response = await service.send(request);
          if (methods.includes(method)) expectError(response, 501, 'NotImplemented');
          else expectError(response, 405, 'MethodNotAllowed');
        }
      }
      const copying = { 'x-amz-copy-source': `${Bucket}/key` };
      const copied = await service.send({ method: 'PUT', path: `/${Bucket}/target`, query: name, headers: copying });
      expect([405, 501], copied.text).toContain(copied.status);
      await expectUntouched();
    },
  );
});

it('what is not built is not told to strangers, who learn nothing of the object either', async () => {
  for (const path of [`/${Bucket}/key`, `/${Bucket}/missing`]) {
    const response = await service.sendUnsigned({ method: 'PUT', path, query: 'retention', body: 'other' });
    expect([403, 501]).toContain(response.status);
    expect(textOf(response.text, 'Code')).toMatch(/^(?:AccessDenied|NotImplemented)$/);
  }
  await expectUntouched();
});
