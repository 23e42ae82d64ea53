import { S3Error } from '../../shared/errors/s3-error.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { bucketWebsite, storedWebsite } from '../../shared/protocol/website.ts';
import { readWebsiteConfiguration, websiteDocument, type Website } from '../../shared/xml/website.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketWebsite.html */
export const getBucketWebsite = defineOperation({
  name: 'GetBucketWebsite',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketWebsite', bucket }],
  act: async (_, { bucket, buckets }) => {
    const website = await bucketWebsite(bucket, buckets);
    if (website === undefined) {
      throw new S3Error('NoSuchWebsiteConfiguration', { details: { BucketName: bucket.name } });
    }
    return website;
  },
  render: (website, _, { settings }) => ({ xml: websiteDocument(website, settings.xmlNamespace) }),
});

const configuration: DocumentBody<Website> = {
  maximum: 'websiteBytes',
  read: async (bytes, { limits }, budget) =>
    readWebsiteConfiguration(await parseXml(bytes, budget), limits.routingRules),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html */
export const putBucketWebsite = defineOperation({
  name: 'PutBucketWebsite',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketWebsite', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.documents.set(authorisation, 'website', storedWebsite(document)),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketWebsite.html */
export const deleteBucketWebsite = defineOperation({
  name: 'DeleteBucketWebsite',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'DeleteBucketWebsite', bucket }],
  act: (_, { authorisation, buckets }) => buckets.documents.set(authorisation, 'website', undefined),
  render: () => ({ status: 204 }),
});
