import type { Action } from '../../shared/access/rights.ts';
import type { DocumentType } from '../../shared/documents/schema.ts';
import { acceleration, requestPayment } from '../../shared/documents/stubs.ts';
import { S3Error, type PlainErrorCode } from '../../shared/errors/s3-error.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, type AnyOperation, emptyXml } from '../../shared/protocol/operation.ts';
import type { ImplementedName } from '../../shared/protocol/operation-table.ts';

/**
 * Unsupported configurations. Terraform and others read them from every bucket and expect S3's response for a bucket that never used
 * the feature: a document, or the error for a missing configuration.
 */
function reading(
  name: ImplementedName,
  action: Action,
  answer: PlainErrorCode | ((namespace: string) => string),
): AnyOperation {
  return defineOperation({
    name,
    on: 'bucket',
    body: 'none',
    needs: { table: 'read' },
    parse: ({ bucket }) => ({ bucket }),
    authorise: ({ bucket }) => [{ action, bucket }],
    act: async (_, { bucket }) => {
      if (typeof answer === 'string') throw new S3Error(answer, { details: { BucketName: bucket.name } });
    },
    render: (_, __, { settings }) => (typeof answer === 'string' ? {} : { xml: answer(settings.xmlNamespace) }),
  });
}

/**
 * Accepts only the configuration that GET returns, which Terraform puts to remove a configuration; anything else is not supported.
 * https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/s3/bucket_request_payment_configuration.go
 */
function writing(name: ImplementedName, action: Action, document: DocumentType<unknown>): AnyOperation {
  return defineOperation({
    name,
    on: 'bucket',
    body: xmlBody(document),
    needs: { table: 'read' },
    parse: ({ bucket }) => ({ bucket }),
    authorise: ({ bucket }) => [{ action, bucket }],
    act: async () => undefined,
    render: emptyXml,
  });
}

export const stubs: readonly AnyOperation[] = [
  reading('GetBucketRequestPayment', 'GetBucketRequestPayment', (namespace) =>
    requestPayment.write('BucketOwner', namespace),
  ),
  reading('GetBucketAccelerateConfiguration', 'GetAccelerateConfiguration', (namespace) =>
    acceleration.write(undefined, namespace),
  ),
  reading('GetBucketReplication', 'GetReplicationConfiguration', 'ReplicationConfigurationNotFoundError'),
  writing('PutBucketRequestPayment', 'PutBucketRequestPayment', requestPayment),
];
