import { S3Error } from '../errors/s3-error.ts';
import { ownerElements, type Owner } from './owner.ts';
import { readDocument, type XmlSource } from './reader.ts';
import { checkTags, readTag, type Tag, type TagLimits } from './tagging.ts';
import { document, timestamp } from './writer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
export interface BucketList {
  readonly owner: Owner;
  readonly buckets: readonly {
    readonly name: string;
    readonly creationDate: number;
    readonly region?: string | undefined;
  }[];
  /** The token of the next page, if there is one. */
  readonly continuationToken?: string | undefined;
  /** Echoed if the request has one. */
  readonly prefix?: string | undefined;
}

/** Returns the response body of ListBuckets. */
export function listAllMyBucketsResult(list: BucketList, namespace: string): string {
  return document('ListAllMyBucketsResult', namespace, {
    Owner: ownerElements(list.owner),
    Buckets: {
      Bucket: list.buckets.map(({ name, creationDate, region }) => ({
        Name: name,
        CreationDate: timestamp(creationDate),
        BucketRegion: region,
      })),
    },
    ContinuationToken: list.continuationToken,
    Prefix: list.prefix,
  });
}

/**
 * Returns the response body of GetBucketLocation. For S3's first region, which has no name here, pass ''.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html
 */
export function locationConstraint(region: string, namespace: string): string {
  return document('LocationConstraint', namespace, region);
}

/** The contents of a CreateBucket body. */
export interface BucketConfiguration {
  readonly locationConstraint: string | undefined;
  /** Empty if the document has no tags. */
  readonly tags: readonly Tag[];
}

/**
 * Reads the body of CreateBucket. Not to be called for an absent or empty body, which many clients send.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
 * @throws S3Error MalformedXML, InvalidTag, NotImplemented (directory buckets)
 */
export function readCreateBucketConfiguration(body: XmlSource, limits: TagLimits): BucketConfiguration {
  const configuration = readDocument(body, 'CreateBucketConfiguration');
  configuration.onlyChildren('LocationConstraint', 'Location', 'Bucket', 'Tags');
  if (configuration.optional('Location') !== undefined || configuration.optional('Bucket') !== undefined) {
    throw new S3Error('NotImplemented', { message: 'Directory buckets are not implemented.' });
  }
  const tags = configuration.optional('Tags')?.onlyChildren('Tag').children.map(readTag) ?? [];
  checkTags(tags, limits);
  const location = configuration.optional('LocationConstraint')?.text;
  return { locationConstraint: location === '' ? undefined : location, tags };
}

/** The versioning status of a bucket that has ever had versioning enabled. */
export type VersioningStatus = 'Enabled' | 'Suspended';

/**
 * Reads the body of PutBucketVersioning.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html
 * @throws S3Error MalformedXML, NotImplemented (MFA delete)
 */
export function readVersioningConfiguration(body: XmlSource): VersioningStatus {
  const configuration = readDocument(body, 'VersioningConfiguration').onlyChildren('Status', 'MfaDelete');
  const status = configuration.one('Status').choice('Enabled', 'Suspended');
  if (configuration.optional('MfaDelete')?.choice('Enabled', 'Disabled') === 'Enabled') {
    throw new S3Error('NotImplemented', { message: 'MFA delete is not implemented.' });
  }
  return status;
}

/**
 * Returns the response body of GetBucketVersioning, which is empty for a bucket that never had versioning enabled.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
 */
export function versioningConfiguration(status: VersioningStatus | undefined, namespace: string): string {
  const content = status === undefined ? {} : { Status: status, MfaDelete: 'Disabled' };
  return document('VersioningConfiguration', namespace, content);
}
