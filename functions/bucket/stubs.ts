import type { ErrorCode } from '../../shared/errors/table.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { defineOperation, type AnyOperation } from '../../shared/protocol/operation.ts';
import type { OperationName } from '../../shared/protocol/routes.ts';
import {
  accelerateConfiguration,
  bucketLoggingStatus,
  notificationConfiguration,
  requestPaymentConfiguration,
} from '../../shared/xml/stubs.ts';

/**
 * Configurations that no bucket here has. Terraform and others read them from every bucket and want the answer S3 gives for a
 * bucket that never used the feature: a document, or the error that says there is none.
 */
const answers: Partial<Record<OperationName, ErrorCode | ((namespace: string) => string)>> = {
  GetBucketRequestPayment: requestPaymentConfiguration,
  GetBucketAccelerateConfiguration: accelerateConfiguration,
  GetBucketLogging: bucketLoggingStatus,
  GetBucketNotificationConfiguration: notificationConfiguration,
  GetBucketEncryption: 'ServerSideEncryptionConfigurationNotFoundError',
  GetBucketReplication: 'ReplicationConfigurationNotFoundError',
  GetObjectLockConfiguration: 'ObjectLockConfigurationNotFoundError',
  GetBucketOwnershipControls: 'OwnershipControlsNotFoundError',
  GetPublicAccessBlock: 'NoSuchPublicAccessBlockConfiguration',
};

/** What a policy calls the right to them, where that is not the name of the operation. */
const actions: Partial<Record<OperationName, string>> = {
  GetBucketAccelerateConfiguration: 'GetAccelerateConfiguration',
  GetBucketNotificationConfiguration: 'GetBucketNotification',
  GetBucketEncryption: 'GetEncryptionConfiguration',
  GetBucketReplication: 'GetReplicationConfiguration',
  GetObjectLockConfiguration: 'GetBucketObjectLockConfiguration',
  GetPublicAccessBlock: 'GetBucketPublicAccessBlock',
};

export const stubs: readonly AnyOperation[] = Object.entries(answers).map(([name, answer]) =>
  defineOperation({
    name: name as OperationName,
    on: 'bucket',
    body: 'none',
    needs: { table: 'read' },
    parse: ({ bucket }) => ({ bucket }),
    authorise: ({ bucket }) => [{ action: actions[name as OperationName] ?? name, bucket }],
    act: async (_, { bucket }) => {
      if (typeof answer === 'string') throw new S3Error(answer, { details: { BucketName: bucket.name } });
    },
    render: (_, __, { settings }) => (typeof answer === 'string' ? {} : { xml: answer(settings.xmlNamespace) }),
  }),
);
