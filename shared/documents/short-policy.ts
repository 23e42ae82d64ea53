const bucketArn = 'arn:aws:s3:::';

/** What a short form gives access to: objects whose keys begin with a prefix. */
export const accesses = ['list', 'read', 'write', 'read-write'] as const;
export type Access = (typeof accesses)[number];

const reading = ['GetObject', 'GetObjectAttributes', 'GetObjectTagging'];
const readingVersions = ['GetObjectVersion', 'GetObjectVersionAttributes', 'GetObjectVersionTagging'];
const writing = ['PutObject', 'PutObjectTagging', 'DeleteObject', 'AbortMultipartUpload', 'ListMultipartUploadParts'];

/**
 * Returns the policy of an identity that a short form stands for: that of the command line and of the console. Whoever may read may list, since a client could otherwise not tell a missing object from one
 * it may not read; whoever may write may do neither, nor remove versions for good.
 */
export function shortPolicy(bucket: string, prefix: string, access: Access): string {
  // Wildcards of the prefix stand for themselves.
  const plain = prefix.replaceAll(/[*?$]/g, (character) => `\${${character}}`);
  const lists = access !== 'write';
  const actions = [
    ...(access === 'read' || access === 'read-write' ? [...reading, ...readingVersions] : []),
    ...(access === 'write' || access === 'read-write' ? writing : []),
  ];
  const statements = [
    { Effect: 'Allow', Action: 's3:GetBucketLocation', Resource: bucketArn + bucket },
    ...(lists
      ? [
          {
            Effect: 'Allow',
            Action: ['s3:ListBucket', 's3:ListBucketVersions', 's3:ListBucketMultipartUploads'],
            Resource: bucketArn + bucket,
            ...(prefix !== '' && { Condition: { StringLike: { 's3:prefix': `${plain}*` } } }),
          },
        ]
      : []),
    ...(actions.length > 0
      ? [
          {
            Effect: 'Allow',
            Action: actions.map((action) => `s3:${action}`),
            Resource: `${bucketArn}${bucket}/${plain}*`,
          },
        ]
      : []),
  ];
  return JSON.stringify({ Version: '2012-10-17', Statement: statements }, undefined, 2);
}
