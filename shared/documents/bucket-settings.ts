import {
  boolean,
  checked,
  documentType,
  elements,
  ifMissing,
  list,
  mapped,
  one,
  oneOf,
  only,
  optional,
  unread,
} from './schema.ts';

const sseAlgorithm = checked(oneOf('AES256', 'aws:kms', 'aws:kms:dsse'), (algorithm, element) => {
  if (algorithm === 'AES256') return;
  throw element.refusal('NotImplemented', 'Encryption with keys of AWS KMS is not implemented.', {
    SSEAlgorithm: algorithm,
  });
});

const applied = mapped(
  checked(
    elements({ algorithm: one('SSEAlgorithm', sseAlgorithm), key: optional('KMSMasterKeyID', unread) }),
    ({ key }, element) => {
      if (key === undefined) return;
      const message = 'a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms';
      throw element.refusal('InvalidArgument', message, { ArgumentName: element.name });
    },
  ),
  // The others are refused.
  () => 'AES256' as const,
  (algorithm) => ({ algorithm }),
);

const blockedTypes = checked(
  mapped(
    list('EncryptionType', oneOf('SSE-C', 'NONE')),
    (types) => [...new Set(types)],
    (types) => types,
  ),
  (types, element) => {
    if (types.length !== 1) throw element.fault('there must be exactly one EncryptionType');
  },
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ServerSideEncryptionRule.html */
export const encryption = documentType(
  'ServerSideEncryptionConfiguration',
  only(
    'Rule',
    checked(
      elements({
        algorithm: optional('ApplyServerSideEncryptionByDefault', applied),
        bucketKeyEnabled: optional('BucketKeyEnabled', boolean),
        blockedTypes: optional('BlockedEncryptionTypes', blockedTypes),
      }),
      (_, rule) => {
        if (rule.children.length === 0) throw rule.fault('Rule is empty');
      },
    ),
  ),
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PublicAccessBlockConfiguration.html */
export const publicAccessBlock = documentType(
  'PublicAccessBlockConfiguration',
  elements({
    blockPublicAcls: ifMissing(false, 'BlockPublicAcls', boolean),
    ignorePublicAcls: ifMissing(false, 'IgnorePublicAcls', boolean),
    blockPublicPolicy: ifMissing(false, 'BlockPublicPolicy', boolean),
    restrictPublicBuckets: ifMissing(false, 'RestrictPublicBuckets', boolean),
  }),
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_OwnershipControls.html */
export const ownershipControls = documentType(
  'OwnershipControls',
  only('Rule', only('ObjectOwnership', oneOf('BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'))),
);
