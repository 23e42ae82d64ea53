import { S3Error } from '../../shared/errors/s3-error.ts';
import { checkBucketName } from '../../shared/http/bucket-name.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { readCreateBucketConfiguration, type BucketConfiguration } from '../../shared/xml/buckets.ts';

const configuration: DocumentBody<BucketConfiguration | undefined> = {
  maximum: 'documentBytes',
  optional: true,
  read: (bytes) => (bytes.byteLength === 0 ? undefined : readCreateBucketConfiguration(bytes)),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket = defineOperation({
  name: 'CreateBucket',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  bucketMustExist: false,
  parse: ({ bucket }) => {
    checkBucketName(bucket);
    return { bucket };
  },
  authorise: () => [{ action: 'CreateBucket' }],
  act: async ({ bucket }, { caller, buckets, document, settings }) => {
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    checkRegion(document?.locationConstraint);
    if (document !== undefined && document.tags.length > 0) throw new S3Error('NotImplemented');
    await buckets.create(bucket, caller.project.id, settings.limits.bucketsPerProject);
  },
  render: (_, { bucket }) => ({ fields: [['location', `/${bucket}`]] }),
});

/** Every region is taken for this one, as with signatures; only what cannot be a region is refused. */
function checkRegion(locationConstraint: string | undefined): void {
  if (locationConstraint === undefined || /^[A-Za-z0-9-]{0,63}$/.test(locationConstraint)) return;
  throw new S3Error('InvalidLocationConstraint', { details: { LocationConstraint: locationConstraint } });
}
