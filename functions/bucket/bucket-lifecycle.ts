import { lifecycle, type LifecycleRule } from '../../shared/documents/lifecycle.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { decodeLifecycle, encodeLifecycle } from '../../shared/lifecycle/lifecycle-document.ts';
import { withIds } from '../../shared/lifecycle/rule-ids.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { tagLimits, type Limits } from '../../shared/protocol/limits.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { checkTags } from '../../shared/protocol/tags.ts';
import { parseXml, readList, type XmlSource } from '../../shared/xml/reader.ts';

/** The steps of reading and of writing a rule: microseconds, as an event-loop budget counts them. */
const stepsToRead = 16;
const stepsToWrite = 8;

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
    const written = await new EventLoopBudget().map(rules, stepsToWrite, lifecycle.content.writeItem);
    return { written, minimumSize };
  },
  render: ({ written, minimumSize }, _, { settings }) => ({
    fields: [[minimumSizeHeader, minimumSize]],
    xml: lifecycle.around(written.join(''), settings.xmlNamespace),
  }),
});

/**
 * Reads lifecycle rules. Those without an id get one.
 * @throws S3Error MalformedXML, InvalidArgument, InvalidRequest, InvalidTag, NotImplemented (transitions)
 */
export async function readLifecycle(
  source: XmlSource,
  limits: Limits,
  budget: EventLoopBudget,
): Promise<readonly LifecycleRule[]> {
  const rules = await readList(source, lifecycle, { most: limits.lifecycleRules, steps: stepsToRead }, budget);
  for (const { scope } of rules) checkTags(scope.tags ?? [], tagLimits(limits, 'tagsPerObject'));
  return budget.run(withIds(rules));
}

const configuration: DocumentBody<readonly LifecycleRule[]> = {
  maximum: 'documentBytes',
  read: async (bytes, { limits }, budget) => readLifecycle(await parseXml(bytes, budget), limits, budget),
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
