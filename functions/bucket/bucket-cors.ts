import { S3Error } from '../../shared/errors/s3-error.ts';
import { bucketCors, storedCors } from '../../shared/protocol/cors.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { corsDocument, readCorsConfiguration, type CorsRule } from '../../shared/xml/cors.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketCors.html */
export const getBucketCors = defineOperation({
  name: 'GetBucketCors',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketCORS', bucket }],
  act: async (_, { bucket, buckets }) => {
    const rules = await bucketCors(bucket, buckets);
    if (rules === undefined) throw new S3Error('NoSuchCORSConfiguration', { details: { BucketName: bucket.name } });
    return rules;
  },
  render: (rules, _, { settings }) => ({ xml: corsDocument(rules, settings.xmlNamespace) }),
});

const configuration: DocumentBody<readonly CorsRule[]> = {
  maximum: 'corsBytes',
  read: async (bytes, { limits }, budget) => readCorsConfiguration(await parseXml(bytes, budget), limits.corsRules),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketCors.html */
export const putBucketCors = defineOperation({
  name: 'PutBucketCors',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketCORS', bucket }],
  act: (_, { authorisation, buckets, document }) => buckets.documents.set(authorisation, 'cors', storedCors(document)),
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketCors.html */
export const deleteBucketCors = defineOperation({
  name: 'DeleteBucketCors',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketCORS', bucket }],
  act: (_, { authorisation, buckets }) => buckets.documents.set(authorisation, 'cors', undefined),
  render: () => ({ status: 204 }),
});
