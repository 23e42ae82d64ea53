import { parseAclHeaders } from '../../shared/access/acl-headers.ts';
import { createBucketConfiguration } from '../../shared/documents/buckets.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { checkBucketName } from '../../shared/http/bucket-name.ts';
import type { Fields } from '../../shared/http/message.ts';
import { objectOwnerships, type ObjectOwnership } from '../../shared/storage/buckets/bucket-settings.ts';
import { aclDocument } from '../../shared/protocol/acls/acl-document.ts';
import { checkOwnershipAllows } from '../../shared/protocol/acls/acl-restrictions.ts';
import { findGrantees } from '../../shared/protocol/acls/granted-acl.ts';
import { optionalXmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { defineOperation, type Settings } from '../../shared/protocol/operation.ts';
import { checkTags, taggingOf } from '../../shared/protocol/tags.ts';

const lockField = 'x-amz-bucket-object-lock-enabled';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket = defineOperation({
  name: 'CreateBucket',
  on: 'bucket',
  body: optionalXmlBody(createBucketConfiguration, ({ tags = [] }, limits) =>
    checkTags(tags, tagLimits(limits, 'tagsPerBucket')),
  ),
  needs: { table: 'write' },
  bucketMustExist: false,
  parse: ({ bucket, fields }) => {
    checkBucketName(bucket);
    return { bucket, asked: parseAclHeaders(fields), ownership: parseOwnership(fields), isLocked: parseLocked(fields) };
  },
  authorise: ({ bucket }, { fields }, body) => [
    {
      action: 'CreateBucket',
      newBucket: bucket,
      facts: factsFrom(fields, ['x-amz-object-ownership']),
      documentFacts: async () => ({
        's3:locationconstraint': (await body()).document?.locationConstraint || undefined,
      }),
    },
  ],
  act: async ({ bucket, asked, ownership, isLocked }, context) => {
    const { authorisation, caller, buckets, document, settings } = context;
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    checkRegion(document?.locationConstraint, settings);
    const { id: owner, bucketQuota = settings.limits.bucketsPerProject } = caller.project;
    const acl = asked && (await findGrantees(asked, context))(owner, owner);
    if (acl) checkOwnershipAllows(ownership, acl, owner);
    const { tags = [], locationConstraint: location } = document ?? {};
    const created = await buckets.create(authorisation, bucket, owner, bucketQuota, {
      documents: {
        ...(acl && { acl: aclDocument(acl) }),
        ...(tags.length > 0 && { tagging: taggingOf(tags) }),
      },
      objectOwnership: ownership,
      objectLock: isLocked ? {} : undefined,
      // Many clients send an empty element instead of none.
      location: location === '' ? undefined : location,
    });
    // It is not to pass for locked.
    const isMissed = created === 'owned' && isLocked && (await buckets.load(bucket)).objectLock === undefined;
    if (isMissed) throw new S3Error('InvalidBucketState', { message: 'The bucket exists, and has no object lock.' });
  },
  render: (_, { bucket }) => ({ fields: [['location', `/${bucket}`]] }),
});

/** @throws S3Error InvalidArgument */
function parseLocked(fields: Fields): boolean {
  const value = fields.get(lockField)?.toLowerCase() ?? 'false';
  if (value !== 'true' && value !== 'false') throw invalidArgument(lockField, value);
  return value === 'true';
}

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
