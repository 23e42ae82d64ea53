import { S3Error } from '../../shared/errors/s3-error.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { taggingOf, tagsOf } from '../../shared/protocol/bucket-tagging.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { readTagging, taggingDocument, type Tag } from '../../shared/xml/tagging.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketTagging.html */
export const getBucketTagging = defineOperation({
  name: 'GetBucketTagging',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketTagging', bucket }],
  act: async (_, { bucket, buckets }) => {
    const document = await buckets.documents.of(bucket, 'tagging');
    if (document === undefined) throw new S3Error('NoSuchTagSet', { details: { BucketName: bucket.name } });
    return tagsOf(document);
  },
  render: (tags, _, { settings }) => ({ xml: taggingDocument(tags, settings.xmlNamespace) }),
});

const tagging: DocumentBody<readonly Tag[]> = {
  maximum: 'documentBytes',
  read: async (bytes, { limits }, budget) =>
    readTagging(await parseXml(bytes, budget), tagLimits(limits, 'tagsPerBucket')),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html */
export const putBucketTagging = defineOperation({
  name: 'PutBucketTagging',
  on: 'bucket',
  body: tagging,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketTagging', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.documents.set(authorisation, 'tagging', taggingOf(document)),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketTagging.html */
export const deleteBucketTagging = defineOperation({
  name: 'DeleteBucketTagging',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketTagging', bucket }],
  act: (_, { authorisation, buckets }) => buckets.documents.set(authorisation, 'tagging', undefined),
  render: () => ({ status: 204 }),
});
