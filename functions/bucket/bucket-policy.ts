import type { Projects } from '../../shared/access/identity.ts';
import { parsePolicy, type Policy, type Principal } from '../../shared/access/policy.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
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
  act: async (_, { bucket, buckets }) => {
    const found = await bucketPolicy(bucket, buckets);
    if (found === undefined) throw new S3Error('NoSuchBucketPolicy', { details: { BucketName: bucket.name } });
    return found.text;
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
  act: async ({ bucket: name, confirmed }, { bucket, buckets, caller, document, projects }) => {
    await checkPrincipals(parsePolicy(document, name), projects);
    // Nobody else can say that the owner's project is to lose its rights.
    const bindsOwner = confirmed && caller.kind === 'user' && caller.project.id === bucket.project;
    await buckets.documents.set(name, 'policy', policyDocument(Buffer.from(document).toString(), bindsOwner));
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
  act: ({ bucket }, { buckets }) => buckets.documents.set(bucket, 'policy', undefined),
  render: () => ({ status: 204 }),
});

/** A name that is spelt wrong would deny nobody. @throws S3Error MalformedPolicy for one that is not there */
async function checkPrincipals({ statements }: Policy, projects: Projects): Promise<void> {
  const named = statements.flatMap(({ principals }) => (principals === 'everybody' ? [] : principals));
  const distinct = new Map(named.map((principal) => [principal.text, principal]));
  for (const principal of distinct.values()) {
    if (await exists(principal, projects)) continue;
    throw new S3Error('MalformedPolicy', {
      message: 'Invalid principal in policy',
      details: { Detail: principal.text },
    });
  }
}

async function exists({ project: name, user }: Principal, projects: Projects): Promise<boolean> {
  const project = (await projects.project(name)) ?? (name.includes('@') ? await projects.byEmail(name) : undefined);
  return project !== undefined && (user === undefined || projects.hasUser(project.id, user));
}
