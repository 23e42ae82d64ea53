import { existingPrincipals, isPublic, policyParsing, shownPolicy } from '../../shared/access/policies/policy.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { bucketPolicy, policyDocument } from '../../shared/protocol/authorisation/bucket-policy.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicy.html */
export const getBucketPolicy = defineOperation({
  name: 'GetBucketPolicy',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketPolicy', bucket }],
  act: async (_, { bucket, buckets, projects }) => {
    const found = await bucketPolicy(bucket, { buckets, projects });
    if (found === undefined) throw new S3Error('NoSuchBucketPolicy', { details: { BucketName: bucket.name } });
    return shownPolicy(found.text, found.named, found.principals, projects);
  },
  render: (text) => ({ fields: [['content-type', 'application/json']], body: Buffer.from(text) }),
});

const policyBody: DocumentBody<Uint8Array> = {
  maximum: 'documentBytes',
  read: (bytes, { limits }) => {
    if (bytes.byteLength <= limits.policyBytes) return bytes;
    throw new S3Error('PolicyTooLarge', { details: { MaxPolicyLengthBytes: String(limits.policyBytes) } });
  },
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketPolicy.html */
export const putBucketPolicy = defineOperation({
  name: 'PutBucketPolicy',
  on: 'bucket',
  body: policyBody,
  needs: { table: 'write' },
  parse: ({ bucket, fields }) => ({
    bucket,
    confirmed: fields.get('x-amz-confirm-remove-self-bucket-access')?.toLowerCase() === 'true',
  }),
  authorise: ({ bucket }) => [{ action: 'PutBucketPolicy', bucket }],
  act: async ({ bucket: name, confirmed }, { authorisation, bucket, buckets, caller, document, projects }) => {
    const policy = await new EventLoopBudget().run(policyParsing(document, name));
    const principals = await existingPrincipals(policy, projects);
    // Only the owner may lock out the owner's project.
    const bindsOwner = confirmed && caller.kind === 'user' && caller.project.id === bucket.project;
    const text = Buffer.from(document).toString();
    const opensBucket = isPublic(policy);
    await buckets.documents.set(
      authorisation,
      'policy',
      policyDocument(text, principals, bindsOwner),
      ({ publicAccessBlock }) => {
        if (opensBucket && publicAccessBlock?.blockPublicPolicy) throw new S3Error('AccessDenied');
      },
    );
  },
  render: () => ({ status: 204 }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketPolicy.html */
export const deleteBucketPolicy = defineOperation({
  name: 'DeleteBucketPolicy',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'DeleteBucketPolicy', bucket }],
  act: (_, { authorisation, buckets }) => buckets.documents.set(authorisation, 'policy', undefined),
  render: () => ({ status: 204 }),
});
