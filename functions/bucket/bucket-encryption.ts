import { S3Error } from '../../shared/errors/s3-error.ts';
import type { DefaultEncryption } from '../../shared/metadata/buckets/bucket-settings.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { encryptionConfiguration, readEncryptionConfiguration } from '../../shared/xml/bucket-settings.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketEncryption.html */
export const getBucketEncryption = defineOperation({
  name: 'GetBucketEncryption',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetEncryptionConfiguration', bucket }],
  act: async (_, { bucket: { name, encryption } }) => {
    if (encryption !== undefined) return encryption;
    throw new S3Error('ServerSideEncryptionConfigurationNotFoundError', { details: { BucketName: name } });
  },
  render: (encryption, _, { settings }) => ({ xml: encryptionConfiguration(encryption, settings.xmlNamespace) }),
});

const configuration: DocumentBody<DefaultEncryption> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readEncryptionConfiguration(await parseXml(bytes, budget)),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html */
export const putBucketEncryption = defineOperation({
  name: 'PutBucketEncryption',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutEncryptionConfiguration', bucket }],
  act: (_, { authorisation, buckets, document }) => buckets.configure(authorisation, () => ({ encryption: document })),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketEncryption.html */
export const deleteBucketEncryption = defineOperation({
  name: 'DeleteBucketEncryption',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutEncryptionConfiguration', bucket }],
  act: (_, { authorisation, buckets }) => buckets.configure(authorisation, () => ({ encryption: undefined })),
  render: () => ({ status: 204 }),
});
