import { S3Error, type PlainErrorCode } from '../../shared/errors/s3-error.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type AnyOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import type { OperationName } from '../../shared/protocol/routes.ts';
import {
  accelerateConfiguration,
  bucketLoggingStatus,
  notificationConfiguration,
  readNoLogging,
  readNoNotifications,
  readRequestPayment,
  requestPaymentConfiguration,
} from '../../shared/xml/stubs.ts';
import { parseXml, type XmlSource } from '../../shared/xml/reader.ts';

/**
 * Unsupported configurations. Terraform and others read them from every bucket and expect S3's response for a bucket that never used
 * the feature: a document, or the error for a missing configuration.
 */
const answers: Partial<Record<OperationName, PlainErrorCode | ((namespace: string) => string)>> = {
  GetBucketRequestPayment: requestPaymentConfiguration,
  GetBucketAccelerateConfiguration: accelerateConfiguration,
  GetBucketLogging: bucketLoggingStatus,
  GetBucketNotificationConfiguration: notificationConfiguration,
  GetBucketReplication: 'ReplicationConfigurationNotFoundError',
  GetObjectLockConfiguration: 'ObjectLockConfigurationNotFoundError',
};

/** The actions in policies that differ from the name of the operation. */
const actions: Partial<Record<OperationName, string>> = {
  GetBucketAccelerateConfiguration: 'GetAccelerateConfiguration',
  GetBucketNotificationConfiguration: 'GetBucketNotification',
  PutBucketNotificationConfiguration: 'PutBucketNotification',
  GetBucketReplication: 'GetReplicationConfiguration',
  GetObjectLockConfiguration: 'GetBucketObjectLockConfiguration',
};

const reading: readonly AnyOperation[] = Object.entries(answers).map(([name, answer]) =>
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

/** Accepts only the configuration that GET returns; anything else is not supported. */
const defaults: Partial<Record<OperationName, (body: XmlSource) => void>> = {
  PutBucketRequestPayment: readRequestPayment,
  PutBucketLogging: readNoLogging,
  PutBucketNotificationConfiguration: readNoNotifications,
};

/**
 * Accepts the default configuration, which Terraform puts to remove a configuration.
 * https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/s3/bucket_logging.go
 */
const writing: readonly AnyOperation[] = Object.entries(defaults).map(([name, read]) =>
  defineOperation({
    name: name as OperationName,
    on: 'bucket',
    body: {
      maximum: 'documentBytes',
      read: async (bytes, _, budget) => read(await parseXml(bytes, budget)),
    } satisfies DocumentBody<void>,
    needs: { table: 'read' },
    parse: ({ bucket }) => ({ bucket }),
    authorise: ({ bucket }) => [{ action: actions[name as OperationName] ?? name, bucket }],
    act: async () => undefined,
    render: emptyXml,
  }),
);

export const stubs: readonly AnyOperation[] = [...reading, ...writing];
