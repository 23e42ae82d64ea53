import { decodeAcl, encodeAcl, isPublicGrant, withoutRepeats } from '../../shared/access/acl.ts';
import { logging, type WrittenLogging } from '../../shared/documents/logging.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { mostAddedBytes } from '../../shared/protocol/access-log/log-keys.ts';
import { findGrantees } from '../../shared/protocol/acls/granted-acl.ts';
import { shownAcl } from '../../shared/protocol/acls/shown-acl.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, emptyXml, type Context } from '../../shared/protocol/operation.ts';
import type { LoggingSettings } from '../../shared/storage/buckets/bucket-settings.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLogging.html */
export const getBucketLogging = defineOperation({
  name: 'GetBucketLogging',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketLogging', bucket }],
  act: async (_, { bucket, projects, settings }) => {
    if (bucket.logging === undefined) return {};
    const { target, prefix, grants, keyFormat } = bucket.logging;
    const acl = grants && (await shownAcl(decodeAcl(grants), bucket.project, projects, settings.allUsersGroupUri));
    const enabled = {
      target,
      prefix,
      ...(acl && { grants: acl.grants as NonNullable<WrittenLogging['grants']> }),
      ...(keyFormat && { keyFormat: writtenFormat(keyFormat) }),
    };
    return { enabled };
  },
  render: (status, _, { settings }) => ({ xml: logging.write(status, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLogging.html */
export const putBucketLogging = defineOperation({
  name: 'PutBucketLogging',
  on: 'bucket',
  body: xmlBody(logging),
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketLogging', bucket }],
  act: async (_, context) => {
    const { authorisation, buckets, document } = context;
    const settings = document.enabled && (await settingsOf(document.enabled, context));
    await buckets.configure(authorisation, () => ({ logging: settings }));
  },
  render: emptyXml,
});

type PutContext = Pick<
  Context<'bucket', 'none'>,
  'bucket' | 'buckets' | 'projects' | 'settings' | 'deliversAccessLogs'
>;

/** @throws S3Error NotImplemented, InvalidTargetBucketForLogging, AccessControlListNotSupported, AccessDenied, and as findGrantees does */
async function settingsOf({ prefix, grants, keyFormat, target }: WrittenLogging, context: PutContext) {
  const { bucket, buckets, settings } = context;
  if (context.deliversAccessLogs !== true) {
    throw new S3Error('NotImplemented', { message: 'This deployment does not deliver access logs.' });
  }
  const most = settings.limits.keyBytes - mostAddedBytes(bucket.name, settings.region);
  if (Buffer.byteLength(prefix) > most) {
    throw invalidArgument('TargetPrefix', prefix, `The prefix may have at most ${most} bytes.`);
  }
  // The table takes no longer name, and no bucket has one.
  const found = target === '' || target.length > 255 ? undefined : await buckets.find(target);
  checkTarget(target, found, bucket);
  const acl = grants && (await findGrantees({ grants }, context))(bucket.project, bucket.project);
  if (acl && found.objectOwnership === 'BucketOwnerEnforced') throw new S3Error('AccessControlListNotSupported');
  if (acl?.some(isPublicGrant) && found.publicAccessBlock?.blockPublicAcls) throw new S3Error('AccessDenied');
  const stored: LoggingSettings = {
    target,
    prefix,
    ...(acl && { grants: encodeAcl(withoutRepeats(acl)) }),
    ...(keyFormat && { keyFormat: 'simple' in keyFormat ? 'simple' : keyFormat.partitioned.dateSource }),
  };
  return stored;
}

/** @throws S3Error InvalidTargetBucketForLogging */
function checkTarget(name: string, target: Bucket | undefined, source: Bucket): asserts target is Bucket {
  const why = reasonAgainst(target, source);
  if (why !== undefined) {
    throw new S3Error('InvalidTargetBucketForLogging', { message: why, details: { TargetBucket: name } });
  }
}

function reasonAgainst(target: Bucket | undefined, source: Bucket): string | undefined {
  if (target === undefined) return 'The target bucket for logging does not exist';
  if (target.project !== source.project) {
    return 'The owner for the bucket to be logged and the target bucket must be the same.';
  }
  if (target.objectLock?.defaultRetention) {
    return 'The target bucket for logging must not have a default retention.';
  }
  return undefined;
}

function writtenFormat(format: NonNullable<LoggingSettings['keyFormat']>): NonNullable<WrittenLogging['keyFormat']> {
  return format === 'simple' ? { simple: {} } : { partitioned: { dateSource: format } };
}
