import { rootRights } from '../../shared/access/identity-rights.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { person, type Answered, type Person } from '../support/storage/pipeline-in-process.ts';
import { queryOf, type Unsigned } from '../support/clients/signer.ts';

/** Sends a request of the owner. */
export type Send = (request: Unsigned) => Promise<Answered>;

/** One request to an operation, and what was done before. */
export interface Scenario {
  readonly operation: OperationName;
  /** The special case; absent: the plain one. */
  readonly variant?: string;
  /** After the bucket was created. */
  readonly before?: readonly Unsigned[];
  /** May depend on the earlier requests: on an upload id, or a link. */
  readonly request: Unsigned | ((send: Send) => Promise<Unsigned>);
  readonly anonymous?: true;
}

/** Who owns the bucket. */
export const owner: Person = { ...person('owner'), rights: rootRights };
const bucket = '/bucket';
/** 60 bytes, as the budget of a current version assumes. */
const key = 'reports/2026/11/21/region-1/warehouse-07/shelf-042/item.json';
const object = `${bucket}/${key}`;
const body = 'x'.repeat(1000);

const put = (path: string, more: Partial<Unsigned> = {}): Unsigned => ({ method: 'PUT', path, body, ...more });
const document = (query: string, text: string): Unsigned => ({ method: 'PUT', path: bucket, query, body: text });
const versioning = (status: string): Unsigned =>
  document('versioning', `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`);

const tags = '<Tagging><TagSet><Tag><Key>team</Key><Value>blue</Value></Tag></TagSet></Tagging>';
const cors =
  '<CORSConfiguration><CORSRule><AllowedOrigin>https://example.com</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>';
const website =
  '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>';
const lifecycle =
  '<LifecycleConfiguration><Rule><ID>old</ID><Filter><Prefix>old/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>';
const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' }],
});
const encryption =
  '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>';
const publicAccessBlock =
  '<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>';
const ownership =
  '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>';
const objectLock = document(
  'object-lock',
  '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
);
const retention =
  '<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2100-01-01T00:00:00Z</RetainUntilDate></Retention>';
const hold = '<LegalHold><Status>ON</Status></LegalHold>';
const monitoring = '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>';
const alarm =
  '<Alarm><Metric>NumberOfObjects</Metric><Statistic>Maximum</Statistic><ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>10</Threshold><Period>300</Period><EvaluationPeriods>1</EvaluationPeriods></Alarm>';

/** Put, get and delete of a setting. */
function settingScenarios(
  name: 'BucketEncryption' | 'PublicAccessBlock' | 'BucketOwnershipControls',
  set: Unsigned,
): readonly Scenario[] {
  const { query = '' } = set;
  return [
    { operation: `Put${name}`, request: set },
    { operation: `Get${name}`, before: [set], request: { path: bucket, query } },
    { operation: `Delete${name}`, before: [set], request: { method: 'DELETE', path: bucket, query } },
  ];
}

const putPolicy = document('policy', policy);
const withAlarm = [document('monitoring', monitoring), document('alarm&name=many', alarm)];
const thousand = Array.from({ length: 1000 }, (_, index) => put(`${object}-${String(index).padStart(4, '0')}`));

const begun = async (send: Send): Promise<string> => {
  const { text } = await send({ method: 'POST', path: object, query: 'uploads' });
  return /<UploadId>([^<]+)/.exec(text)![1]!;
};
const part = (id: string, number: number): Unsigned => put(object, { query: `partNumber=${number}&uploadId=${id}` });
const anUpload = async (send: Send, parts: number): Promise<{ id: string; etags: string[] }> => {
  const id = await begun(send);
  const etags: string[] = [];
  for (let number = 1; number <= parts; number += 1) etags.push((await send(part(id, number))).header('etag')!);
  return { id, etags };
};
const completion = (etags: readonly string[]): string =>
  `<CompleteMultipartUpload>${etags
    .map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
    .join('')}</CompleteMultipartUpload>`;
const completing =
  (parts: number) =>
  async (send: Send): Promise<Unsigned> => {
    const { id, etags } = await anUpload(send, parts);
    return { method: 'POST', path: object, query: `uploadId=${id}`, body: completion(etags) };
  };
const deletion = (count: number): Unsigned => {
  const keys = Array.from({ length: count }, (_, index) => `${key}-${String(index).padStart(4, '0')}`);
  const text = `<Delete><Quiet>true</Quiet>${keys.map((one) => `<Object><Key>${one}</Key></Object>`).join('')}</Delete>`;
  return { method: 'POST', path: bucket, query: 'delete', body: text };
};
const form = (): Unsigned => {
  const signature = signedV4(owner.key, [{ bucket: 'bucket' }, ['starts-with', '$key', '']]);
  const headers = { 'Content-Type': formType };
  return { method: 'POST', path: bucket, headers, body: formBody([['key', key], ...signature], { content: body }) };
};
const linkOf = async (send: Send): Promise<string> => {
  const { text } = await send({ method: 'POST', path: object, query: 'public-link' });
  return text;
};

/** Every operation that is built, in its plain case and in the cases that cost something else. */
export const scenarios: readonly Scenario[] = [
  { operation: 'PutObject', request: put(object) },
  { operation: 'PutObject', variant: 'over an object', before: [put(object)], request: put(object) },
  {
    operation: 'PutObject',
    variant: 'over a version',
    before: [versioning('Enabled'), put(object)],
    request: put(object),
  },
  { operation: 'PutObject', variant: 'If-None-Match', request: put(object, { headers: { 'If-None-Match': '*' } }) },
  {
    operation: 'PutObject',
    variant: '2 KB of metadata',
    request: put(object, { headers: { 'x-amz-meta-note': 'm'.repeat(2000) } }),
  },
  { operation: 'PutObject', variant: '64 MiB', request: put(object, { body: new Uint8Array(64 * 1024 * 1024) }) },
  { operation: 'PostObject', request: async () => form(), anonymous: true },
  { operation: 'GetObject', before: [put(object)], request: { path: object } },
  {
    operation: 'GetObject',
    variant: 'an older version',
    before: [versioning('Enabled'), put(object)],
    request: async (send) => {
      const id = (await send({ method: 'HEAD', path: object })).header('x-amz-version-id')!;
      await send(put(object));
      return { path: object, query: queryOf({ versionId: id }) };
    },
  },
  {
    operation: 'GetObject',
    variant: '2 KB of metadata',
    before: [put(object, { headers: { 'x-amz-meta-note': 'm'.repeat(2000) } })],
    request: { path: object },
  },
  {
    operation: 'GetObject',
    variant: '3 parts',
    request: async (send) => {
      await send(await completing(3)(send));
      return { path: object };
    },
  },
  { operation: 'HeadObject', before: [put(object)], request: { method: 'HEAD', path: object } },
  {
    operation: 'GetObjectAttributes',
    before: [put(object)],
    request: { path: object, query: 'attributes', headers: { 'x-amz-object-attributes': 'ETag,ObjectSize' } },
  },
  { operation: 'DeleteObject', before: [put(object)], request: { method: 'DELETE', path: object } },
  {
    operation: 'DeleteObject',
    variant: 'with versioning',
    before: [versioning('Enabled'), put(object)],
    request: { method: 'DELETE', path: object },
  },
  { operation: 'DeleteObjects', variant: '1,000 keys', before: thousand, request: deletion(1000) },
  {
    operation: 'CopyObject',
    before: [put(object)],
    request: { method: 'PUT', path: `${object}-2`, headers: { 'x-amz-copy-source': object } },
  },
  {
    operation: 'RenameObject',
    before: [put(object)],
    request: { method: 'PUT', path: `${object}-2`, query: 'renameObject', headers: { 'x-amz-rename-source': key } },
  },
  {
    operation: 'RenameObject',
    variant: 'with lifecycle rules',
    before: [put(object), document('lifecycle', lifecycle)],
    request: { method: 'PUT', path: `${object}-2`, query: 'renameObject', headers: { 'x-amz-rename-source': key } },
  },
  {
    operation: 'PutObjectTagging',
    before: [put(object)],
    request: { method: 'PUT', path: object, query: 'tagging', body: tags },
  },
  { operation: 'GetObjectTagging', before: [put(object)], request: { path: object, query: 'tagging' } },
  {
    operation: 'DeleteObjectTagging',
    before: [put(object)],
    request: { method: 'DELETE', path: object, query: 'tagging' },
  },
  {
    operation: 'PutObjectAcl',
    before: [put(object)],
    request: { method: 'PUT', path: object, query: 'acl', headers: { 'x-amz-acl': 'public-read' } },
  },
  { operation: 'GetObjectAcl', before: [put(object)], request: { path: object, query: 'acl' } },

  {
    operation: 'ListObjectsV2',
    variant: '1,000 keys',
    before: thousand,
    request: { path: bucket, query: 'list-type=2' },
  },
  { operation: 'ListObjectsV2', variant: 'nothing', request: { path: bucket, query: 'list-type=2' } },
  { operation: 'ListObjects', variant: '1,000 keys', before: thousand, request: { path: bucket } },
  {
    operation: 'ListObjectVersions',
    variant: '1,000 keys',
    before: thousand,
    request: { path: bucket, query: 'versions' },
  },

  { operation: 'CreateMultipartUpload', request: { method: 'POST', path: object, query: 'uploads' } },
  { operation: 'UploadPart', request: async (send) => part(await begun(send), 1) },
  {
    operation: 'UploadPartCopy',
    before: [put(`${object}-2`)],
    request: async (send) => ({
      ...part(await begun(send), 1),
      body: '',
      headers: { 'x-amz-copy-source': `${object}-2` },
    }),
  },
  {
    operation: 'ListParts',
    variant: '3 parts',
    request: async (send) => ({ path: object, query: `uploadId=${(await anUpload(send, 3)).id}` }),
  },
  { operation: 'CompleteMultipartUpload', variant: '3 parts', request: completing(3) },
  { operation: 'CompleteMultipartUpload', variant: '1,000 parts', request: completing(1000) },
  {
    operation: 'AbortMultipartUpload',
    request: async (send) => ({ method: 'DELETE', path: object, query: `uploadId=${await begun(send)}` }),
  },
  {
    operation: 'ListMultipartUploads',
    variant: 'one upload',
    request: async (send) => {
      await begun(send);
      return { path: bucket, query: 'uploads' };
    },
  },

  { operation: 'ListBuckets', request: { path: '/' } },
  { operation: 'CreateBucket', request: { method: 'PUT', path: '/another' } },
  { operation: 'HeadBucket', request: { method: 'HEAD', path: bucket } },
  { operation: 'DeleteBucket', request: { method: 'DELETE', path: bucket } },
  { operation: 'GetBucketLocation', request: { path: bucket, query: 'location' } },
  { operation: 'GetBucketVersioning', request: { path: bucket, query: 'versioning' } },
  { operation: 'PutBucketVersioning', request: versioning('Enabled') },
  { operation: 'GetBucketAcl', request: { path: bucket, query: 'acl' } },
  {
    operation: 'PutBucketAcl',
    request: { method: 'PUT', path: bucket, query: 'acl', headers: { 'x-amz-acl': 'public-read' } },
  },
  { operation: 'PutObjectLockConfiguration', before: [versioning('Enabled')], request: objectLock },
  {
    operation: 'GetObjectLockConfiguration',
    before: [versioning('Enabled'), objectLock],
    request: { path: bucket, query: 'object-lock' },
  },
  {
    operation: 'PutObjectRetention',
    before: [versioning('Enabled'), objectLock, put(object)],
    request: { ...document('retention', retention), path: object },
  },
  {
    operation: 'GetObjectRetention',
    before: [versioning('Enabled'), objectLock, put(object), { ...document('retention', retention), path: object }],
    request: { path: object, query: 'retention' },
  },
  {
    operation: 'PutObjectLegalHold',
    before: [versioning('Enabled'), objectLock, put(object)],
    request: { ...document('legal-hold', hold), path: object },
  },
  {
    operation: 'GetObjectLegalHold',
    before: [versioning('Enabled'), objectLock, put(object), { ...document('legal-hold', hold), path: object }],
    request: { path: object, query: 'legal-hold' },
  },
  { operation: 'PutBucketLogging', request: document('logging', '<BucketLoggingStatus/>') },
  { operation: 'GetBucketLogging', request: { path: bucket, query: 'logging' } },
  {
    operation: 'PutBucketNotificationConfiguration',
    request: document('notification', '<NotificationConfiguration/>'),
  },
  { operation: 'GetBucketNotificationConfiguration', request: { path: bucket, query: 'notification' } },
  // A cloud deployment delivers no events, and asks no webhook.
  { operation: 'ListWebhooks', request: { path: '/', query: 'webhooks' } },
  { operation: 'ListEventDeliveries', request: { path: bucket, query: 'event-deliveries' } },
  { operation: 'ReplayEvents', request: { method: 'POST', path: bucket, query: 'event-deliveries' } },
  { operation: 'PutBucketTagging', request: document('tagging', tags) },
  { operation: 'GetBucketTagging', before: [document('tagging', tags)], request: { path: bucket, query: 'tagging' } },
  {
    operation: 'DeleteBucketTagging',
    before: [document('tagging', tags)],
    request: { method: 'DELETE', path: bucket, query: 'tagging' },
  },
  ...settingScenarios('BucketEncryption', document('encryption', encryption)),
  ...settingScenarios('PublicAccessBlock', document('publicAccessBlock', publicAccessBlock)),
  ...settingScenarios('BucketOwnershipControls', document('ownershipControls', ownership)),
  { operation: 'PutBucketPolicy', request: putPolicy },
  { operation: 'GetBucketPolicy', before: [putPolicy], request: { path: bucket, query: 'policy' } },
  { operation: 'GetBucketPolicyStatus', before: [putPolicy], request: { path: bucket, query: 'policyStatus' } },
  {
    operation: 'DeleteBucketPolicy',
    before: [putPolicy],
    request: { method: 'DELETE', path: bucket, query: 'policy' },
  },
  { operation: 'PutBucketCors', request: document('cors', cors) },
  { operation: 'GetBucketCors', before: [document('cors', cors)], request: { path: bucket, query: 'cors' } },
  {
    operation: 'DeleteBucketCors',
    before: [document('cors', cors)],
    request: { method: 'DELETE', path: bucket, query: 'cors' },
  },
  {
    operation: 'Preflight',
    before: [document('cors', cors)],
    request: {
      method: 'OPTIONS',
      path: object,
      headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'GET' },
    },
    anonymous: true,
  },
  { operation: 'PutBucketLifecycleConfiguration', request: document('lifecycle', lifecycle) },
  {
    operation: 'GetBucketLifecycleConfiguration',
    before: [document('lifecycle', lifecycle)],
    request: { path: bucket, query: 'lifecycle' },
  },
  {
    operation: 'DeleteBucketLifecycle',
    before: [document('lifecycle', lifecycle)],
    request: { method: 'DELETE', path: bucket, query: 'lifecycle' },
  },
  { operation: 'PutBucketWebsite', request: document('website', website) },
  {
    operation: 'GetBucketWebsite',
    before: [document('website', website)],
    request: { path: bucket, query: 'website' },
  },
  {
    operation: 'DeleteBucketWebsite',
    before: [document('website', website)],
    request: { method: 'DELETE', path: bucket, query: 'website' },
  },
  {
    operation: 'GetWebsitePage',
    before: [document('website', website), put(`${bucket}/index.html`, { headers: { 'x-amz-acl': 'public-read' } })],
    request: { path: '/', headers: { host: 'bucket.website.stillage.test' } },
    anonymous: true,
  },

  {
    operation: 'CreatePublicLink',
    before: [put(object)],
    request: { method: 'POST', path: object, query: 'public-link' },
  },
  { operation: 'ListPublicLinks', before: [put(object)], request: { path: object, query: 'public-link' } },
  {
    operation: 'GetPublicLink',
    before: [put(object)],
    request: async (send) => ({ path: new URL(/<Url>([^<]+)/.exec(await linkOf(send))![1]!).pathname }),
    anonymous: true,
  },
  {
    operation: 'DeletePublicLink',
    before: [put(object)],
    request: async (send) => ({
      method: 'DELETE',
      path: object,
      query: `public-link&id=${/<Id>([^<]+)/.exec(await linkOf(send))![1]}`,
    }),
  },

  { operation: 'GetAccount', request: { path: '/', query: 'account' } },
  {
    operation: 'Iam',
    variant: 'ListUsers',
    request: { method: 'POST', path: '/', service: 'iam', body: 'Action=ListUsers&Version=2010-05-08' },
  },
  {
    operation: 'Sts',
    variant: 'GetCallerIdentity',
    request: { method: 'POST', path: '/', service: 'sts', body: 'Action=GetCallerIdentity&Version=2011-06-15' },
  },
  {
    operation: 'LookupEvents',
    request: {
      ...{ method: 'POST', path: '/', service: 'cloudtrail', body: '{}' },
      headers: { 'x-amz-target': 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents' },
    },
  },
  { operation: 'GetBucketQuota', request: { path: bucket, query: 'quota' } },
  { operation: 'PutBucketMonitoring', request: document('monitoring', monitoring) },
  { operation: 'GetBucketMonitoring', request: { path: bucket, query: 'monitoring' } },
  { operation: 'PutAlarm', before: [document('monitoring', monitoring)], request: document('alarm&name=many', alarm) },
  { operation: 'GetAlarm', before: withAlarm, request: { path: bucket, query: 'alarm&name=many' } },
  { operation: 'ListAlarms', before: withAlarm, request: { path: bucket, query: 'alarms' } },
  { operation: 'GetAlarmHistory', before: withAlarm, request: { path: bucket, query: 'alarm-history&name=many' } },
  {
    operation: 'DeleteAlarm',
    before: withAlarm,
    request: { method: 'DELETE', path: bucket, query: 'alarm&name=many' },
  },
  {
    operation: 'GetMetricData',
    before: [document('monitoring', monitoring)],
    request: {
      path: bucket,
      query: 'end=2026-01-02&metric=BucketSizeBytes&metric-data&period=300&start=2026-01-01&statistic=Sum',
    },
  },
  { operation: 'GetHealth', request: { path: '/_stillage/health' }, anonymous: true },
  { operation: 'GetLiveness', request: { path: '/_stillage/live' }, anonymous: true },
];
