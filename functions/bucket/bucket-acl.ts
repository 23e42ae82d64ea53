import { shownAcl as aclDocumentType } from '../../shared/documents/acl.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { aclDocument, bucketAcl } from '../../shared/protocol/acls/acl-document.ts';
import { aclToShow, checkAclAllowed } from '../../shared/protocol/acls/acl-restrictions.ts';
import { aclBody, parseAclRequest, readAclRequest } from '../../shared/protocol/acls/acl-request.ts';
import { aclFields, factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { findGrantees } from '../../shared/protocol/acls/granted-acl.ts';
import { defineOperation, emptyXml } from '../../shared/protocol/operation.ts';
import { shownAcl } from '../../shared/protocol/acls/shown-acl.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAcl.html */
export const getBucketAcl = defineOperation({
  name: 'GetBucketAcl',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketAcl', bucket }],
  act: async (_, { bucket, buckets, projects, settings }) =>
    shownAcl(aclToShow(await bucketAcl(bucket, buckets), bucket), bucket.project, projects, settings.allUsersGroupUri),
  render: (acl, _, { settings }) => ({ xml: aclDocumentType.write(acl, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketAcl.html */
export const putBucketAcl = defineOperation({
  name: 'PutBucketAcl',
  on: 'bucket',
  body: aclBody,
  needs: { table: 'write' },
  parse: ({ bucket, fields }) => ({ bucket, asked: parseAclRequest(fields) }),
  authorise: ({ bucket }, { fields }) => [{ action: 'PutBucketAcl', bucket, facts: factsFrom(fields, aclFields) }],
  act: async ({ asked }, context) => {
    const { bucket, buckets, document, authorisation } = context;
    const { owner, acl } = readAclRequest(asked, document);
    if (owner !== undefined && owner !== bucket.project) throw new S3Error('AccessDenied');
    const resolved = (await findGrantees(acl, context))(bucket.project, bucket.project);
    await buckets.documents.set(authorisation, 'acl', aclDocument(resolved), (present) =>
      checkAclAllowed(acl, resolved, present, 'bucket'),
    );
  },
  render: emptyXml,
});
