import { S3Error } from '../../shared/errors/s3-error.ts';
import { objectOwnerships, type ObjectOwnership } from '../../shared/metadata/buckets/bucket-settings.ts';
import { bucketAcl } from '../../shared/protocol/acls/acl-document.ts';
import { checkOwnershipAllows } from '../../shared/protocol/acls/acl-restrictions.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { ownershipControls, readOwnershipControls } from '../../shared/xml/bucket-settings.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketOwnershipControls.html */
export const getBucketOwnershipControls = defineOperation({
  name: 'GetBucketOwnershipControls',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketOwnershipControls', bucket }],
  act: async (_, { bucket: { name, objectOwnership } }) => {
    if (objectOwnership !== undefined) return objectOwnership;
    throw new S3Error('OwnershipControlsNotFoundError', { details: { BucketName: name } });
  },
  render: (ownership, _, { settings }) => ({ xml: ownershipControls(ownership, settings.xmlNamespace) }),
});

const controls: DocumentBody<ObjectOwnership> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readOwnershipControls(await parseXml(bytes, budget), objectOwnerships),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketOwnershipControls.html */
export const putBucketOwnershipControls = defineOperation({
  name: 'PutBucketOwnershipControls',
  on: 'bucket',
  body: controls,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketOwnershipControls', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.configure(authorisation, async (bucket) => {
      checkOwnershipAllows(document, await bucketAcl(bucket, buckets), bucket.project);
      return { objectOwnership: document };
    }),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketOwnershipControls.html */
export const deleteBucketOwnershipControls = defineOperation({
  name: 'DeleteBucketOwnershipControls',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketOwnershipControls', bucket }],
  act: (_, { authorisation, buckets }) => buckets.configure(authorisation, () => ({ objectOwnership: undefined })),
  render: () => ({ status: 204 }),
});
