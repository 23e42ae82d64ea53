import type { TemporaryKey } from '../../shared/access/session-tokens.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import type { Unsigned } from '../support/clients/signer.ts';

/** The ids of resources that exist when a hostile request begins, and cannot be known in advance. */
export interface Planted {
  /** The project that the bucket belongs to. */
  readonly owner: string;
  /** An upload of alt's to the key `k`, with one part. */
  readonly upload: string;
  /** The MD5 of that part, in hex. */
  readonly partEtag: string;
  /** A public link to `k`. */
  readonly link: string;
  /** The delete marker that hides the key `hidden`, where the bucket is versioned. */
  readonly marker: string | undefined;
  /** A temporary key of a role of alt's. */
  readonly session: Pick<TemporaryKey, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'>;
}

/** A request by alt to main's bucket, or to alt's own, that changes something. A request without a body is sent with a single space. */
export type Sample = (planted: Planted) => Unsigned;

const form = 'multipart/form-data; boundary=b';
const part = (name: string, content: string, file = ''): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;

const put = (path: string, query: string, body: string): Sample => {
  return () => ({ method: 'PUT', path, query, body });
};
const remove = (path: string, query?: string): Sample => {
  return () => ({ method: 'DELETE', path, ...(query !== undefined && { query }) });
};

const action = (service: string, body: string): Sample => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return () => ({ method: 'POST', path: '/', service, headers, body });
};

const acl = (owner: string): string =>
  `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner><AccessControlList><Grant>` +
  '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>alt</ID></Grantee>' +
  '<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>';
const logging =
  '<BucketLoggingStatus><LoggingEnabled><TargetBucket>own</TargetBucket><TargetPrefix/></LoggingEnabled></BucketLoggingStatus>';
const tagging = '<Tagging><TagSet><Tag><Key>by</Key><Value>alt</Value></Tag></TagSet></Tagging>';
const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*'] },
  ],
});
const retention =
  '<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>2100-01-01T00:00:00Z</RetainUntilDate></Retention>';
const hold = '<LegalHold><Status>ON</Status></LegalHold>';
const alarm =
  '<Alarm><Metric>NumberOfObjects</Metric><Statistic>Maximum</Statistic>' +
  '<ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>1</Threshold><Period>300</Period>' +
  '<EvaluationPeriods>1</EvaluationPeriods></Alarm>';
const webhook = '<Webhook><Url>https://hooks.example/alt</Url></Webhook>';
const lifecycle =
  '<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>';

/**
 * At least one request for each operation that writes. The test of hostile tenants fails for an operation without one: add the request with
 * which it would be abused.
 */
export const samples: Partial<Record<OperationName, readonly Sample[]>> = {
  Iam: [action('iam', 'Action=CreateUser&Version=2010-05-08&UserName=made')],
  Sts: [action('sts', 'Action=GetSessionToken&Version=2011-06-15')],
  CreateBucket: [put('/fresh', '', ''), put('/photos', '', '')],
  DeleteBucket: [remove('/empty')],
  PutBucketAcl: [({ owner }) => ({ method: 'PUT', path: '/photos', query: 'acl', body: acl(owner) })],
  PutBucketPolicy: [put('/photos', 'policy', policy)],
  DeleteBucketPolicy: [remove('/photos', 'policy')],
  PutBucketCors: [
    put(
      '/photos',
      'cors',
      '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>',
    ),
  ],
  DeleteBucketCors: [remove('/photos', 'cors')],
  PutBucketWebsite: [
    put(
      '/photos',
      'website',
      '<WebsiteConfiguration><IndexDocument><Suffix>i.html</Suffix></IndexDocument></WebsiteConfiguration>',
    ),
  ],
  DeleteBucketWebsite: [remove('/photos', 'website')],
  PutBucketLifecycleConfiguration: [put('/photos', 'lifecycle', lifecycle)],
  DeleteBucketLifecycle: [remove('/photos', 'lifecycle')],
  PutObjectLockConfiguration: [
    put(
      '/photos',
      'object-lock',
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
    ),
  ],
  PutObjectRetention: [put('/photos/k', 'retention', retention), put('/photos/k', 'retention', '<Retention/>')],
  PutObjectLegalHold: [put('/photos/k', 'legal-hold', hold)],
  PutBucketLogging: [put('/photos', 'logging', logging), put('/photos', 'logging', '<BucketLoggingStatus/>')],
  PutBucketNotificationConfiguration: [put('/photos', 'notification', '<NotificationConfiguration/>')],
  PutBucketTagging: [put('/photos', 'tagging', tagging)],
  DeleteBucketTagging: [remove('/photos', 'tagging')],
  PutBucketEncryption: [
    put(
      '/photos',
      'encryption',
      '<ServerSideEncryptionConfiguration><Rule><BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType>' +
        '</BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>',
    ),
  ],
  DeleteBucketEncryption: [remove('/photos', 'encryption')],
  PutPublicAccessBlock: [put('/photos', 'publicAccessBlock', '<PublicAccessBlockConfiguration/>')],
  DeletePublicAccessBlock: [remove('/photos', 'publicAccessBlock')],
  PutBucketOwnershipControls: [
    put(
      '/photos',
      'ownershipControls',
      '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></OwnershipControls>',
    ),
  ],
  DeleteBucketOwnershipControls: [remove('/photos', 'ownershipControls')],
  PutBucketVersioning: [
    put('/photos', 'versioning', '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>'),
  ],
  PutBucketMonitoring: [
    put('/photos', 'monitoring', '<MonitoringConfiguration><Status>Disabled</Status></MonitoringConfiguration>'),
  ],
  PutAlarm: [put('/photos', 'alarm&name=new', alarm), put('/photos', 'alarm&name=old', alarm)],
  DeleteAlarm: [remove('/photos', 'alarm&name=old')],
  PutWebhook: [put('/', 'webhook&name=new', webhook), put('/', 'webhook&name=old', webhook)],
  DeleteWebhook: [remove('/', 'webhook&name=old')],
  RotateWebhookSecret: [() => ({ method: 'POST', path: '/', query: 'webhook-secret&name=old' })],
  ReplayEvents: [() => ({ method: 'POST', path: '/photos', query: 'event-deliveries' })],

  PutObject: [put('/photos/k', '', 'data of alt')],
  PostObject: [
    () => ({
      method: 'POST',
      path: '/photos',
      headers: { 'content-type': form },
      body: `${part('key', 'k')}${part('file', 'data of alt', '; filename="f"')}--b--\r\n`,
    }),
  ],
  CopyObject: [
    () => ({ method: 'PUT', path: '/photos/copy', headers: { 'x-amz-copy-source': '/photos/k' } }),
    () => ({ method: 'PUT', path: '/own/copy', headers: { 'x-amz-copy-source': '/photos/k' } }),
  ],
  RenameObject: [
    () => ({
      method: 'PUT',
      path: '/photos/moved',
      query: 'renameObject',
      headers: { 'x-amz-rename-source': '/photos/k' },
    }),
  ],
  PutObjectAcl: ['acl', 'acl&versionId=null'].map((query): Sample => ({ owner }) => ({
    method: 'PUT',
    path: '/photos/k',
    query,
    body: acl(owner),
  })),
  PutObjectTagging: [put('/photos/k', 'tagging', tagging), put('/photos/k', 'tagging&versionId=null', tagging)],
  DeleteObjectTagging: [remove('/photos/k', 'tagging'), remove('/photos/k', 'tagging&versionId=null')],
  DeleteObject: [
    remove('/photos/k'),
    remove('/photos/k', 'versionId=null'),
    ({ marker = 'null' }) => ({ method: 'DELETE', path: '/photos/hidden', query: `versionId=${marker}` }),
  ],
  DeleteObjects: [
    () => ({
      method: 'POST',
      path: '/photos',
      query: 'delete',
      body: '<Delete><Object><Key>k</Key></Object><Object><Key>j</Key></Object></Delete>',
    }),
    ({ marker = 'null' }) => ({
      method: 'POST',
      path: '/photos',
      query: 'delete',
      body:
        '<Delete><Object><Key>k</Key><VersionId>null</VersionId></Object>' +
        `<Object><Key>hidden</Key><VersionId>${marker}</VersionId></Object></Delete>`,
    }),
  ],
  CreatePublicLink: [() => ({ method: 'POST', path: '/photos/k', query: 'public-link' })],
  DeletePublicLink: [({ link }) => ({ method: 'DELETE', path: '/photos/k', query: `public-link&id=${link}` })],

  CreateMultipartUpload: [() => ({ method: 'POST', path: '/photos/k', query: 'uploads' })],
  UploadPart: [
    ({ upload }) => ({ method: 'PUT', path: '/photos/k', query: `partNumber=2&uploadId=${upload}`, body: 'part' }),
  ],
  UploadPartCopy: [
    ({ upload }) => ({
      method: 'PUT',
      path: '/photos/k',
      query: `partNumber=2&uploadId=${upload}`,
      headers: { 'x-amz-copy-source': '/photos/k' },
    }),
  ],
  CompleteMultipartUpload: [
    ({ upload, partEtag }) => ({
      method: 'POST',
      path: '/photos/k',
      query: `uploadId=${upload}`,
      body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${partEtag}</ETag></Part></CompleteMultipartUpload>`,
    }),
  ],
  AbortMultipartUpload: [({ upload }) => ({ method: 'DELETE', path: '/photos/k', query: `uploadId=${upload}` })],
};

/**
 * Operations that write data: authorised once, when the request arrives (as in AWS). Every other operation, including any new one, must
 * still have its permissions when it commits.
 */
export const dataOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  'PutObject',
  'PostObject',
  'CopyObject',
  'CreateMultipartUpload',
  'UploadPart',
  'UploadPartCopy',
  'CompleteMultipartUpload',
]);
