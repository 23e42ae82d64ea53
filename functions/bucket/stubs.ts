import type { ErrorCode } from '../../shared/errors/table.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
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
 * Configurations that no bucket here has. Terraform and others read them from every bucket and want the answer S3 gives for a
 * bucket that never used the feature: a document, or the error that says there is none.
 */
const answers: Partial<Record<OperationName, ErrorCode | ((namespace: string) => string)>> = {
  GetBucketRequestPayment: requestPaymentConfiguration,
  GetBucketAccelerateConfiguration: accelerateConfiguration,
  GetBucketLogging: bucketLoggingStatus,
  GetBucketNotificationConfiguration: notificationConfiguration,
  GetBucketReplication: 'ReplicationConfigurationNotFoundError',
  GetObjectLockConfiguration: 'ObjectLockConfigurationNotFoundError',
};

/** What a policy calls the right to them, where that is not the name of the operation. */
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

/** Reads a body as the answer to GET; whatever else it asks for is not there. */
const defaults: Partial<Record<OperationName, (body: XmlSource) => void>> = {
  PutBucketRequestPayment: readRequestPayment,
  PutBucketLogging: readNoLogging,
  PutBucketNotificationConfiguration: readNoNotifications,
};

/**
 * Puts a configuration as it is for every bucket. Terraform does so to remove the configuration.
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
