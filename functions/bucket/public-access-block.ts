import { S3Error } from '../../shared/errors/s3-error.ts';
import type { PublicAccessBlock } from '../../shared/metadata/buckets/bucket-settings.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { publicAccessBlock, readPublicAccessBlock } from '../../shared/xml/bucket-settings.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetPublicAccessBlock.html */
export const getPublicAccessBlock = defineOperation({
  name: 'GetPublicAccessBlock',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketPublicAccessBlock', bucket }],
  act: async (_, { bucket: { name, publicAccessBlock: block } }) => {
    if (block !== undefined) return block;
    throw new S3Error('NoSuchPublicAccessBlockConfiguration', { details: { BucketName: name } });
  },
  render: (block, _, { settings }) => ({ xml: publicAccessBlock(block, settings.xmlNamespace) }),
});

const configuration: DocumentBody<PublicAccessBlock> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readPublicAccessBlock(await parseXml(bytes, budget)),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutPublicAccessBlock.html */
export const putPublicAccessBlock = defineOperation({
  name: 'PutPublicAccessBlock',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketPublicAccessBlock', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.configure(authorisation, () => ({ publicAccessBlock: document })),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeletePublicAccessBlock.html */
export const deletePublicAccessBlock = defineOperation({
  name: 'DeletePublicAccessBlock',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketPublicAccessBlock', bucket }],
  act: (_, { authorisation, buckets }) => buckets.configure(authorisation, () => ({ publicAccessBlock: undefined })),
  render: () => ({ status: 204 }),
});
