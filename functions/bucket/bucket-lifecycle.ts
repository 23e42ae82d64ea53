import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { parseIsoDate } from '../../shared/http/dates.ts';
import {
  decodeLifecycle,
  encodeLifecycle,
  type LifecycleRule,
} from '../../shared/metadata/lifecycle/lifecycle-document.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { lifecycleConfiguration, lifecycleParsing, lifecycleWriting } from '../../shared/xml/lifecycle.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** Without effect, as there is one storage class only, but Terraform waits until it reads what it wrote. */
const minimumSizeHeader = 'x-amz-transition-default-minimum-object-size';
const minimumSizes = ['all_storage_classes_128K', 'varies_by_storage_class'];

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html */
export const getBucketLifecycleConfiguration = defineOperation({
  name: 'GetBucketLifecycleConfiguration',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetLifecycleConfiguration', bucket }],
  act: async (_, { bucket, buckets }) => {
    const document = await buckets.documents.of(bucket, 'lifecycle');
    if (document === undefined) {
      throw new S3Error('NoSuchLifecycleConfiguration', { details: { BucketName: bucket.name } });
    }
    const { rules, minimumSize } = decodeLifecycle(document);
    return { rules: await new EventLoopBudget().run(lifecycleWriting(rules)), minimumSize };
  },
  render: ({ rules, minimumSize }, _, { settings }) => ({
    fields: [[minimumSizeHeader, minimumSize]],
    xml: lifecycleConfiguration(rules, settings.xmlNamespace),
  }),
});

const configuration: DocumentBody<readonly LifecycleRule[]> = {
  maximum: 'documentBytes',
  read: async (bytes, { limits }, budget) =>
    budget.run(
      lifecycleParsing(await parseXml(bytes, budget), {
        maximumRules: limits.lifecycleRules,
        tags: tagLimits(limits, 'tagsPerObject'),
        parseTime: parseIsoDate,
      }),
    ),
};

/** Replaces all rules: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html */
export const putBucketLifecycleConfiguration = defineOperation({
  name: 'PutBucketLifecycleConfiguration',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket, fields }) => ({ bucket, minimumSize: readMinimumSize(fields.get(minimumSizeHeader)) }),
  authorise: ({ bucket }) => [{ action: 'PutLifecycleConfiguration', bucket }],
  act: ({ minimumSize }, { authorisation, buckets, document }) =>
    buckets.documents.set(authorisation, 'lifecycle', encodeLifecycle({ rules: document, minimumSize })),
  render: (_, { minimumSize }) => ({
    fields: [
      ['content-type', 'application/xml'],
      [minimumSizeHeader, minimumSize],
    ],
  }),
});

function readMinimumSize(value = minimumSizes[0]!): string {
  if (minimumSizes.includes(value)) return value;
  throw invalidArgument(minimumSizeHeader, value, `${minimumSizeHeader} must be one of ${minimumSizes.join(', ')}`);
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketLifecycle.html */
export const deleteBucketLifecycle = defineOperation({
  name: 'DeleteBucketLifecycle',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutLifecycleConfiguration', bucket }],
  act: (_, { authorisation, buckets }) => buckets.documents.set(authorisation, 'lifecycle', undefined),
  render: () => ({ status: 204 }),
});
