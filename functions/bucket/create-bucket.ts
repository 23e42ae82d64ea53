import { parseAclHeaders } from '../../shared/access/acl-headers.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { checkBucketName } from '../../shared/http/bucket-name.ts';
import type { Fields } from '../../shared/http/message.ts';
import { objectOwnerships, type ObjectOwnership } from '../../shared/metadata/buckets/bucket-settings.ts';
import { aclDocument } from '../../shared/protocol/acls/acl-document.ts';
import { checkOwnershipAllows } from '../../shared/protocol/acls/acl-restrictions.ts';
import { findGrantees } from '../../shared/protocol/acls/granted-acl.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { taggingOf } from '../../shared/protocol/bucket-tagging.ts';
import { defineOperation, type DocumentBody, type Settings } from '../../shared/protocol/operation.ts';
import { readCreateBucketConfiguration, type BucketConfiguration } from '../../shared/xml/buckets.ts';
import { parseXml } from '../../shared/xml/reader.ts';

const configuration: DocumentBody<BucketConfiguration | undefined> = {
  maximum: 'documentBytes',
  optional: true,
  read: async (bytes, { limits }, budget) =>
    bytes.byteLength === 0
      ? undefined
      : readCreateBucketConfiguration(await parseXml(bytes, budget), tagLimits(limits, 'tagsPerBucket')),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket = defineOperation({
  name: 'CreateBucket',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  bucketMustExist: false,
  parse: ({ bucket, fields }) => {
    checkBucketName(bucket);
    return { bucket, asked: parseAclHeaders(fields), ownership: parseOwnership(fields) };
  },
  authorise: () => [{ action: 'CreateBucket' }],
  act: async ({ bucket, asked, ownership }, context) => {
    const { authorisation, caller, buckets, document, settings } = context;
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    checkRegion(document?.locationConstraint, settings);
    const { id: owner, bucketQuota = settings.limits.bucketsPerProject } = caller.project;
    const acl = asked && (await findGrantees(asked, context))(owner, owner);
    if (acl) checkOwnershipAllows(ownership, acl, owner);
    const { tags = [], locationConstraint: location } = document ?? {};
    await buckets.create(authorisation, bucket, owner, bucketQuota, {
      documents: {
        ...(acl && { acl: aclDocument(acl) }),
        ...(tags.length > 0 && { tagging: taggingOf(tags) }),
      },
      objectOwnership: ownership,
      location,
    });
  },
  render: (_, { bucket }) => ({ fields: [['location', `/${bucket}`]] }),
});

/** @throws S3Error InvalidArgument */
function parseOwnership(fields: Fields): ObjectOwnership | undefined {
  const value = fields.get('x-amz-object-ownership');
  if (value === undefined) return undefined;
  const ownership = objectOwnerships.find((one) => one === value);
  if (ownership === undefined) throw invalidArgument('x-amz-object-ownership', value);
  return ownership;
}

/** Checks a location constraint. Any region name is accepted, as in signatures, unless allowed regions are configured. */
function checkRegion(locationConstraint = '', { region, regions }: Settings): void {
  const isListed = regions === undefined || ['', region, ...regions].includes(locationConstraint);
  if (isListed && /^[A-Za-z0-9-]{0,63}$/.test(locationConstraint)) return;
  throw new S3Error('InvalidLocationConstraint', { details: { LocationConstraint: locationConstraint } });
}
