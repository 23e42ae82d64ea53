import { grantee } from './acl.ts';
import { choice, documentType, elements, ifMissing, list, one, oneOf, optional, text, type ValueOf } from './schema.ts';

const targetGrant = elements({ grantee, permission: one('Permission', oneOf('FULL_CONTROL', 'READ', 'WRITE')) });

/** The form of the keys of log objects. */
const keyFormat = choice({
  simple: one('SimplePrefix', elements({})),
  partitioned: one(
    'PartitionedPrefix',
    elements({
      dateSource: ifMissing('DeliveryTime', 'PartitionDateSource', oneOf('EventTime', 'DeliveryTime')),
    }),
  ),
});

/**
 * Where the access log of a bucket is delivered; nothing in it: nowhere.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLogging.html
 */
export const logging = documentType(
  'BucketLoggingStatus',
  elements({
    enabled: optional(
      'LoggingEnabled',
      elements({
        target: one('TargetBucket', text),
        prefix: one('TargetPrefix', text),
        grants: optional('TargetGrants', list('Grant', targetGrant)),
        keyFormat: optional('TargetObjectKeyFormat', keyFormat),
      }),
    ),
  }),
);

/** The access log of a bucket, as clients write it. */
export type WrittenLogging = NonNullable<ValueOf<typeof logging>['enabled']>;
