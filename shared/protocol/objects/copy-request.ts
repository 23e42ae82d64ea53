import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { parseCopySource, type CopySource } from '../../http/fields/copy-source.ts';
import type { Fields } from '../../http/message.ts';
import { judgeSource, verdictError, type Preconditions } from '../../http/fields/preconditions.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import { checkVersionId } from '../../storage/versions/version-id.ts';
import { etagOf, versionIdOf, type Version } from '../../storage/versions/versions.ts';
import type { Question, StatedFacts } from '../../access/authorise.ts';
import type { RequestView } from '../authorisation/request-view.ts';

/** The source of CopyObject or UploadPartCopy with its conditions. */
export interface CopyRequest {
  readonly source: CopySource;
  readonly sourceConditions: Preconditions;
  /** The project that should own the source's bucket according to the client. */
  readonly expectedOwner: string | undefined;
}

/** Reads the source of a copy. @throws S3Error as parseCopySource does */
export function parseCopyRequest(fields: Fields, sourceConditions: Preconditions): CopyRequest {
  const source = parseCopySource(fields.get('x-amz-copy-source') ?? '');
  if (source.versionId !== undefined) checkVersionId(source.versionId);
  return {
    source,
    sourceConditions,
    expectedOwner: fields.get('x-amz-source-expected-bucket-owner'),
  };
}

/** Returns the facts about the target that name the source, in one canonical form. */
export function copyFacts({ bucket, key }: CopySource): StatedFacts {
  return { 's3:x-amz-copy-source': `${bucket}/${key}` };
}

/** Returns the question whether the caller may read the source's tags. Asked only if it has any, as in S3. */
export function sourceTagsQuestion({ bucket, key, versionId }: CopySource): Question {
  if (versionId === undefined) return { action: 'GetObjectTagging', bucket, key };
  return { action: 'GetObjectVersionTagging', bucket, key, versionId };
}

/**
 * Returns the version to copy.
 * @throws S3Error AccessDenied (unexpected owner), NoSuchKey, InvalidRequest (a delete marker by its id),
 *   PreconditionFailed
 */
export async function findSource(
  { source, sourceConditions, expectedOwner }: CopyRequest,
  bucket: Bucket,
  view: RequestView,
): Promise<Version> {
  if (expectedOwner !== undefined && expectedOwner !== bucket.project) throw new S3Error('AccessDenied');
  const version = await view.find(bucket, source.key, source.versionId);
  if (version === undefined || (version.marker && source.versionId === undefined)) {
    throw new S3Error('NoSuchKey', { details: { BucketName: source.bucket, Key: source.key } });
  }
  if (version.marker) {
    throw new S3Error('InvalidRequest', {
      message: 'The source of a copy request may not specifically refer to a delete marker by version id.',
    });
  }
  const facts = { etag: etagOf(version), lastModified: version.lastModified };
  const failure = verdictError(judgeSource(sourceConditions, facts));
  if (failure) throw failure;
  return version;
}

/** Returns `x-amz-copy-source-version-id` if the source's bucket has versions. */
export function sourceVersionFields(bucket: Bucket, version: Version): readonly (readonly [string, string])[] {
  return bucket.versioning === 'off' ? [] : [['x-amz-copy-source-version-id', versionIdOf(version)]];
}

/** Reads x-amz-metadata-directive and similar headers. @throws S3Error InvalidArgument */
export function parseDirective(fields: Fields, name: string): 'COPY' | 'REPLACE' {
  const value = fields.get(name);
  if (value === undefined || value === 'COPY') return 'COPY';
  if (value === 'REPLACE') return 'REPLACE';
  throw invalidArgument(name, value, `Unknown ${name}.`);
}
