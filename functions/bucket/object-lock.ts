import { objectLockConfiguration } from '../../shared/documents/object-lock.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, emptyXml } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectLockConfiguration.html */
export const getObjectLockConfiguration = defineOperation({
  name: 'GetObjectLockConfiguration',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketObjectLockConfiguration', bucket }],
  act: async (_, { bucket }) => {
    if (bucket.objectLock) return bucket.objectLock;
    throw new S3Error('ObjectLockConfigurationNotFoundError', { details: { BucketName: bucket.name } });
  },
  render: (objectLock, _, { settings }) => ({
    xml: objectLockConfiguration.write({ enabled: 'Enabled', ...objectLock }, settings.xmlNamespace),
  }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLockConfiguration.html */
export const putObjectLockConfiguration = defineOperation({
  name: 'PutObjectLockConfiguration',
  on: 'bucket',
  body: xmlBody(objectLockConfiguration),
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketObjectLockConfiguration', bucket }],
  act: (_, { authorisation, buckets, document: { enabled: _enabled, ...objectLock } }) =>
    buckets.setObjectLock(authorisation, objectLock),
  render: emptyXml,
});
