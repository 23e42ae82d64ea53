import { S3Error } from '../errors/s3-error.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document } from './writer.ts';

/** `<ServerSideEncryptionConfiguration>`, which has exactly one rule. */
export interface WrittenEncryption {
  readonly algorithm?: 'AES256' | undefined;
  readonly bucketKeyEnabled?: boolean | undefined;
  readonly blockedTypes?: readonly ('SSE-C' | 'NONE')[] | undefined;
}

/**
 * Reads the body of PutBucketEncryption: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ServerSideEncryptionRule.html
 * @throws S3Error MalformedXML, NotImplemented (KMS), InvalidArgument (a KMS key with AES256)
 */
export function readEncryptionConfiguration(body: XmlSource): WrittenEncryption {
  const root = readDocument(body, 'ServerSideEncryptionConfiguration').onlyChildren('Rule');
  const rule = root
    .one('Rule')
    .onlyChildren('ApplyServerSideEncryptionByDefault', 'BucketKeyEnabled', 'BlockedEncryptionTypes');
  if (rule.children.length === 0) throw rule.fault('Rule is empty');
  const applied = rule.optional('ApplyServerSideEncryptionByDefault');
  const bucketKeyEnabled = rule.optional('BucketKeyEnabled')?.boolean();
  const blocked = rule.optional('BlockedEncryptionTypes')?.onlyChildren('EncryptionType');
  return {
    ...(applied && { algorithm: readAlgorithm(applied) }),
    ...(bucketKeyEnabled !== undefined && { bucketKeyEnabled }),
    ...(blocked && { blockedTypes: readBlockedTypes(blocked) }),
  };
}

function readAlgorithm(applied: XmlElement): 'AES256' {
  applied.onlyChildren('SSEAlgorithm', 'KMSMasterKeyID');
  const algorithm = applied.one('SSEAlgorithm').choice('AES256', 'aws:kms', 'aws:kms:dsse');
  if (algorithm !== 'AES256') {
    throw new S3Error('NotImplemented', {
      message: 'Encryption with keys of AWS KMS is not implemented.',
      details: { SSEAlgorithm: algorithm },
    });
  }
  if (applied.optional('KMSMasterKeyID') !== undefined) {
    throw new S3Error('InvalidArgument', {
      message: 'a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms',
      details: { ArgumentName: 'ApplyServerSideEncryptionByDefault' },
    });
  }
  return algorithm;
}

function readBlockedTypes(blocked: XmlElement): readonly ('SSE-C' | 'NONE')[] {
  const types = [...new Set(blocked.many('EncryptionType').map((type) => type.choice('SSE-C', 'NONE')))];
  if (types.length !== 1) throw blocked.fault('there must be exactly one EncryptionType');
  return types;
}

/**
 * Returns the response body of GetBucketEncryption:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketEncryption.html
 */
export function encryptionConfiguration(
  { algorithm, bucketKeyEnabled, blockedTypes }: WrittenEncryption,
  namespace: string,
): string {
  return document('ServerSideEncryptionConfiguration', namespace, {
    Rule: {
      ApplyServerSideEncryptionByDefault: algorithm && { SSEAlgorithm: algorithm },
      BucketKeyEnabled: bucketKeyEnabled,
      BlockedEncryptionTypes: blockedTypes && { EncryptionType: blockedTypes },
    },
  });
}

/** `<PublicAccessBlockConfiguration>`: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PublicAccessBlockConfiguration.html */
export interface WrittenPublicAccessBlock {
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  readonly blockPublicPolicy: boolean;
  readonly restrictPublicBuckets: boolean;
}

/** Reads the body of PutPublicAccessBlock. Missing settings are false. @throws S3Error MalformedXML */
export function readPublicAccessBlock(body: XmlSource): WrittenPublicAccessBlock {
  const root = readDocument(body, 'PublicAccessBlockConfiguration');
  root.onlyChildren('BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets');
  const flag = (name: string): boolean => root.optional(name)?.boolean() ?? false;
  return {
    blockPublicAcls: flag('BlockPublicAcls'),
    ignorePublicAcls: flag('IgnorePublicAcls'),
    blockPublicPolicy: flag('BlockPublicPolicy'),
    restrictPublicBuckets: flag('RestrictPublicBuckets'),
  };
}

/** Returns the response body of GetPublicAccessBlock. */
export function publicAccessBlock(block: WrittenPublicAccessBlock, namespace: string): string {
  return document('PublicAccessBlockConfiguration', namespace, {
    BlockPublicAcls: block.blockPublicAcls,
    IgnorePublicAcls: block.ignorePublicAcls,
    BlockPublicPolicy: block.blockPublicPolicy,
    RestrictPublicBuckets: block.restrictPublicBuckets,
  });
}

/**
 * Reads the body of PutBucketOwnershipControls: https://docs.aws.amazon.com/AmazonS3/latest/API/API_OwnershipControls.html
 * @throws S3Error MalformedXML
 */
export function readOwnershipControls<const Ownership extends string>(
  body: XmlSource,
  ownerships: readonly Ownership[],
): Ownership {
  const rule = readDocument(body, 'OwnershipControls').onlyChildren('Rule').one('Rule');
  return rule
    .onlyChildren('ObjectOwnership')
    .one('ObjectOwnership')
    .choice(...ownerships);
}

/** Returns the response body of GetBucketOwnershipControls. */
export function ownershipControls(ownership: string, namespace: string): string {
  return document('OwnershipControls', namespace, { Rule: { ObjectOwnership: ownership } });
}
