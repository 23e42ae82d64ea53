import { shownAcl as aclDocumentType } from '../../shared/documents/acl.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { versionIdOf, type Version, presentVersion } from '../../shared/storage/versions/versions.ts';
import { grantsOf, versionAcl } from '../../shared/protocol/acls/acl-document.ts';
import { aclToShow, checkAclAllowed } from '../../shared/protocol/acls/acl-restrictions.ts';
import { aclBody, parseAclRequest, readAclRequest } from '../../shared/protocol/acls/acl-request.ts';
import { aclFields, factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { ownerIn } from '../../shared/protocol/authorisation/ownership.ts';
import { findGrantees } from '../../shared/protocol/acls/granted-acl.ts';
import { defineOperation, type Answer, emptyXml } from '../../shared/protocol/operation.ts';
import { shownAcl } from '../../shared/protocol/acls/shown-acl.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAcl.html */
export const getObjectAcl = defineOperation({
  name: 'GetObjectAcl',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket, key, query }) => ({ bucket, key, versionId: parseVersionId(query) }),
  authorise: ({ bucket, key, versionId }) => [
    versionId === undefined
      ? { action: 'GetObjectAcl', bucket, key }
      : { action: 'GetObjectVersionAcl', bucket, key, versionId },
  ],
  act: async ({ key, versionId }, { bucket, view, projects, settings }) => {
    const version = presentVersion(await view.find(bucket, key, versionId), key, versionId);
    const owner = ownerIn(bucket, version.owner);
    const acl = aclToShow(versionAcl(await view.objectAttributes(version), version.owner), bucket);
    return { version, shown: await shownAcl(acl, owner, projects, settings.allUsersGroupUri) };
  },
  render: ({ version, shown }, _, { settings }) =>
    withVersion(version, { xml: aclDocumentType.write(shown, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html */
export const putObjectAcl = defineOperation({
  name: 'PutObjectAcl',
  on: 'object',
  body: aclBody,
  needs: { table: 'write' },
  parse: ({ bucket, key, fields, query }) => ({
    bucket,
    key,
    versionId: parseVersionId(query),
    asked: parseAclRequest(fields),
  }),
  authorise: ({ bucket, key, versionId }, { fields }) => {
    const place = { bucket, key, facts: factsFrom(fields, aclFields) };
    if (versionId === undefined) return [{ action: 'PutObjectAcl', ...place }];
    return [{ action: 'PutObjectVersionAcl', ...place, versionId }];
  },
  findSubject: async ({ key, versionId }, { bucket, view }) => {
    presentVersion(await view.find(bucket, key, versionId), key, versionId);
  },
  act: async ({ asked }, context) => {
    const { authorisation, objects, document } = context;
    const { owner, acl } = readAclRequest(asked, document);
    const resolved = await findGrantees(acl, context);
    return objects.revise(authorisation, ({ grants: _, ...objectAttributes }, version, bucket) => {
      if (owner !== undefined && owner !== ownerIn(bucket, version.owner)) throw new S3Error('AccessDenied');
      const asked = resolved(version.owner, bucket.project);
      checkAclAllowed(acl, asked, bucket, 'object');
      return { ...objectAttributes, ...grantsOf(asked, version.owner) };
    });
  },
  render: (version) => withVersion(version, emptyXml()),
});

function withVersion(version: Version, answer: Answer): Answer {
  return { ...answer, fields: [...(answer.fields ?? []), ['x-amz-version-id', versionIdOf(version)]] };
}
