import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { expect } from 'vitest';
import type { Acl, Permission } from '../../../../shared/access/acl.ts';
import { aclDocument } from '../../../../shared/protocol/acls/acl-document.ts';
import { policyDocument } from '../../../../shared/protocol/authorisation/bucket-policy.ts';
import type { OperationName } from '../../../../shared/protocol/operation-table.ts';
import { person, PipelineInProcess, type Answered, type Person } from '../../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../../support/clients/signer.ts';

/*
 * A request for every operation, and who may send it under every kind of rule. The expected results are written down from the documentation
 * of S3 on ACLs and policies and, where it leaves a result open, from the decisions in docs/adr; none is taken from the code.
 */

export const people = {
  owner: person('owner'),
  colleague: person('colleague', 'owner'),
  suspended: person('suspended', 'owner', true),
  objectOwner: person('objectOwner'),
  stranger: person('stranger'),
  reader: person('reader'),
  writer: person('writer'),
  aclReader: person('aclReader'),
  aclWriter: person('aclWriter'),
  fullController: person('fullController'),
} as const;

export type Caller = keyof typeof people | 'anonymous';
export const everybody: readonly Caller[] = [...(Object.keys(people) as (keyof typeof people)[]), 'anonymous'];
const users = everybody.filter((one) => one !== 'anonymous');
const owners = ['owner', 'colleague'] as const;

/** In `granted` and `denied`, the bucket and its objects have the same ACL, which grants each caller the permission in its name. */
const acl: Acl = (
  [
    ['owner', 'FULL_CONTROL'],
    ['reader', 'READ'],
    ['writer', 'WRITE'],
    ['aclReader', 'READ_ACP'],
    ['aclWriter', 'WRITE_ACP'],
    ['fullController', 'FULL_CONTROL'],
  ] as const satisfies readonly (readonly [Caller, Permission])[]
).map(([name, permission]) => ({ grantee: { project: `${name}-id` }, permission }));

const publicAcl: Acl = (['READ', 'WRITE'] as const).map((permission) => ({
  grantee: { group: 'AllUsers' },
  permission,
}));

function policy(effect: 'Allow' | 'Deny'): string {
  const statement = {
    ...{ Effect: effect, Principal: '*', Action: 's3:*' },
    Resource: ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/*'],
  };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}

/**
 * private: neither ACL nor policy. granted: the ACL above. public: everybody may read and write. allowed: a policy allows everybody
 * everything. denied: the ACL above, and a policy denies everybody everything.
 */
export const settings = ['private', 'granted', 'public', 'allowed', 'denied'] as const;
export type Setting = (typeof settings)[number];

/** Who may, besides `suspended`, who may nothing; by setting. */
type Expected = Readonly<Record<Setting, readonly Caller[]>>;

/** The callers to whom an ACL of the bucket or object grants an operation that requires one of these permissions. */
function grantedTo(...names: readonly Caller[]): Partial<Expected> {
  return { granted: [...owners, ...names, 'fullController'] };
}

function expected(given: Partial<Expected>): Expected {
  return { private: owners, granted: owners, public: owners, allowed: everybody, denied: [], ...given };
}

/** A document of the bucket: S3 leaves access to policies, Ceph RGW grants it to callers that may read or write the ACL. */
const readingSettings = expected(grantedTo('aclReader'));
const writingSettings = expected(grantedTo('aclWriter'));
const listing = expected({ ...grantedTo('reader'), public: everybody });
const writing = expected({ ...grantedTo('writer'), public: everybody });
const ownerOnly = expected({ allowed: owners });

const beyondPolicies = expected({ allowed: owners, denied: owners });

function alsoObjectOwner(of: Expected): Expected {
  return Object.fromEntries(settings.map((name) => [name, [...of[name], 'objectOwner']])) as unknown as Expected;
}

/** Reading an object that belongs to the bucket's owner. */
const reading = expected({ ...grantedTo('reader'), public: everybody });

/** The bucket's policy grants no access to an object of another project, and the owner of the object needs none. */
function ofObjectOwner(of: Expected): Expected {
  const also = (names: readonly Caller[]): readonly Caller[] => [...names, 'objectOwner'];
  return {
    ...of,
    private: also(of.private),
    granted: also(of.granted),
    public: also(of.public),
    allowed: also(owners),
  };
}

/** The operations that a policy cannot deny the owner, who could otherwise never change the policy again. */
const escaping = (of: Expected): Expected => ({ ...of, denied: owners });

export interface Row {
  readonly operation: OperationName;
  /** The special case of the request, if any. */
  readonly of?: string;
  readonly request: (state: State) => Unsigned;
  readonly ok: number;
  readonly expected: Expected;
}

/** A bucket with an object of its owner's, one of another project, and an upload of the owner's. */
export interface State {
  readonly service: PipelineInProcess;
  readonly uploadId: string;
}

const settingsOf = (
  operation: OperationName,
  query: string,
  ok: number,
  of: Expected,
  method = 'GET',
  body?: string,
): Row => ({
  operation,
  request: () => ({ method, path: '/bucket', query, ...(body !== undefined && { body }) }),
  ok,
  expected: of,
});

const ofWebhooks = (operation: OperationName, method: string, query: string, ok: number, body?: string): Row => ({
  operation,
  request: () => ({ method, path: '/', query, ...(body !== undefined && { body }) }),
  ok,
  expected: { private: users, granted: users, public: users, allowed: users, denied: users },
});

const ofObject = (
  operation: OperationName,
  path: string,
  ok: number,
  of: Expected,
  more: Partial<Unsigned> = {},
  remark?: string,
): Row => ({
  operation,
  request: () => ({ path, ...more }),
  ok,
  expected: of,
  ...(remark !== undefined && { of: remark }),
});

const tagging = '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>';
const encryption =
  '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>' +
  '</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>';
const ownership =
  '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></OwnershipControls>';
const objectLock = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>';
const locking = { 'x-amz-object-lock-legal-hold': 'ON', 'content-md5': 'ndTkYSaMgDT1yFZOFVxnpg==' };
const attributes = { query: 'attributes', headers: { 'x-amz-object-attributes': 'ETag' } };
const version = { query: 'versionId=null' };
const copyFrom = (source: string): Partial<Unsigned> => ({ method: 'PUT', headers: { 'x-amz-copy-source': source } });

/** The rights to an object: as far as the table of permissions of S3 goes, and for each the object that decides. */
function objectRows(): readonly Row[] {
  const rows = [
    ['GetObject', 200, reading, {}],
    ['GetObject', 200, reading, version],
    ['HeadObject', 200, reading, { method: 'HEAD' }],
    ['GetObjectAttributes', 200, reading, attributes],
    ['GetObjectTagging', 200, reading, { query: 'tagging' }],
    ['GetObjectTagging', 200, reading, { query: 'tagging&versionId=null' }],
    // Only the owners of the object and of the bucket: policies may judge by tags what is read.
    ['PutObjectTagging', 200, expected({}), { method: 'PUT', query: 'tagging', body: tagging }],
    ['DeleteObjectTagging', 204, expected({}), { method: 'DELETE', query: 'tagging' }],
    ['GetObjectAcl', 200, expected(grantedTo('aclReader')), { query: 'acl' }],
    ['GetObjectAcl', 200, expected(grantedTo('aclReader')), { query: 'acl&versionId=null' }],
    [
      'PutObjectAcl',
      200,
      expected(grantedTo('aclWriter')),
      { method: 'PUT', query: 'acl', headers: { 'x-amz-acl': 'private' } },
    ],
    // For good: only the owners of the version and of the bucket.
    ['DeleteObject', 204, expected({}), { method: 'DELETE', ...version }],
  ] as const satisfies readonly (readonly [OperationName, number, Expected, Partial<Unsigned>])[];
  return rows.flatMap(([operation, ok, of, more]) => {
    const remark = 'query' in more ? more.query : 'the object';
    return [
      ofObject(operation, '/bucket/own', ok, of, more, remark),
      ofObject(operation, '/bucket/theirs', ok, ofObjectOwner(of), more, `${remark}, of another project`),
    ];
  });
}

const writingOfUsers: Expected = {
  ...writing,
  public: users,
  allowed: users,
};

export const rows: readonly Row[] = [
  {
    ...{ operation: 'ListBuckets', request: () => ({ path: '/' }), ok: 200 },
    expected: expected({ private: everybody, granted: everybody, public: everybody, denied: everybody }),
  },
  {
    ...{ operation: 'CreateBucket', request: () => ({ method: 'PUT', path: '/another' }), ok: 200 },
    expected: expected({ private: users, granted: users, public: users, allowed: users, denied: users }),
  },

  settingsOf('HeadBucket', '', 200, listing, 'HEAD'),
  settingsOf('ListObjects', '', 200, listing),
  settingsOf('ListObjectsV2', 'list-type=2', 200, listing),
  settingsOf('ListObjectVersions', 'versions', 200, listing),
  settingsOf('ListMultipartUploads', 'uploads', 200, listing),

  // The bucket is not empty, so this error shows that the request was authorised.
  settingsOf('DeleteBucket', '', 409, ownerOnly, 'DELETE'),
  settingsOf(
    'PutBucketVersioning',
    'versioning',
    200,
    ownerOnly,
    'PUT',
    '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
  ),

  settingsOf('GetBucketAcl', 'acl', 200, expected(grantedTo('aclReader'))),
  {
    ...settingsOf('PutBucketAcl', 'acl', 200, expected(grantedTo('aclWriter'))),
    request: () => ({ method: 'PUT', path: '/bucket', query: 'acl', headers: { 'x-amz-acl': 'private' } }),
  },
  settingsOf('GetBucketVersioning', 'versioning', 200, readingSettings),
  settingsOf('GetBucketLocation', 'location', 200, readingSettings),
  settingsOf('GetBucketTagging', 'tagging', 404, readingSettings),
  settingsOf('PutBucketTagging', 'tagging', 200, writingSettings, 'PUT', tagging),
  settingsOf('DeleteBucketTagging', 'tagging', 204, writingSettings, 'DELETE'),
  {
    ...settingsOf('GetBucketPolicy', 'policy', 404, escaping(readingSettings)),
    of: 'where there may be one',
  },
  settingsOf('PutBucketPolicy', 'policy', 204, escaping(writingSettings), 'PUT', policy('Allow')),
  settingsOf('DeleteBucketPolicy', 'policy', 204, escaping(writingSettings), 'DELETE'),
  settingsOf('GetBucketPolicyStatus', 'policyStatus', 404, readingSettings),
  settingsOf('GetBucketRequestPayment', 'requestPayment', 200, readingSettings),
  settingsOf('GetBucketAccelerateConfiguration', 'accelerate', 200, readingSettings),
  settingsOf('GetBucketLogging', 'logging', 200, readingSettings),
  settingsOf('GetBucketNotificationConfiguration', 'notification', 200, readingSettings),
  settingsOf('GetBucketReplication', 'replication', 404, readingSettings),
  settingsOf('GetObjectLockConfiguration', 'object-lock', 404, readingSettings),
  // Allowed to the owner, and through policies; ACLs do not cover these. The bucket has no object lock, which its caller is told.
  settingsOf('PutObjectLockConfiguration', 'object-lock', 409, expected({}), 'PUT', objectLock),
  ofObject('GetObjectRetention', '/bucket/own', 400, expected({}), { query: 'retention' }),
  ofObject('GetObjectLegalHold', '/bucket/own', 400, expected({}), { query: 'legal-hold' }),
  ofObject('PutObjectRetention', '/bucket/own', 400, expected({}), {
    ...{ method: 'PUT', query: 'retention', body: '<Retention/>' },
    headers: { 'x-amz-bypass-governance-retention': 'true' },
  }),
  ofObject('PutObjectLegalHold', '/bucket/own', 400, expected({}), {
    ...{ method: 'PUT', query: 'legal-hold', body: '<LegalHold><Status>ON</Status></LegalHold>' },
  }),
  ofObject('PutObject', '/bucket/new', 400, expected({}), { method: 'PUT', body: 'x', headers: locking }, 'locked'),
  settingsOf('GetBucketEncryption', 'encryption', 404, expected({})),
  settingsOf('PutBucketEncryption', 'encryption', 200, expected({}), 'PUT', encryption),
  settingsOf('DeleteBucketEncryption', 'encryption', 204, expected({}), 'DELETE'),
  settingsOf('GetPublicAccessBlock', 'publicAccessBlock', 404, expected({})),
  settingsOf(
    'PutPublicAccessBlock',
    'publicAccessBlock',
    200,
    expected({}),
    'PUT',
    '<PublicAccessBlockConfiguration/>',
  ),
  settingsOf('DeletePublicAccessBlock', 'publicAccessBlock', 204, expected({}), 'DELETE'),
  settingsOf('GetBucketOwnershipControls', 'ownershipControls', 404, expected({})),
  settingsOf('PutBucketOwnershipControls', 'ownershipControls', 200, expected({}), 'PUT', ownership),
  settingsOf('DeleteBucketOwnershipControls', 'ownershipControls', 204, expected({}), 'DELETE'),
  settingsOf(
    ...(['PutBucketRequestPayment', 'requestPayment', 200, expected({}), 'PUT'] as const),
    '<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>',
  ),
  settingsOf('PutBucketLogging', 'logging', 200, expected({}), 'PUT', '<BucketLoggingStatus/>'),
  settingsOf(
    ...(['PutBucketNotificationConfiguration', 'notification', 200, expected({}), 'PUT'] as const),
    '<NotificationConfiguration/>',
  ),
  settingsOf('GetBucketLifecycleConfiguration', 'lifecycle', 404, readingSettings),
  settingsOf(
    'PutBucketLifecycleConfiguration',
    'lifecycle',
    200,
    writingSettings,
    'PUT',
    '<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>' +
      '</LifecycleConfiguration>',
  ),
  settingsOf('DeleteBucketLifecycle', 'lifecycle', 204, writingSettings, 'DELETE'),
  settingsOf('GetBucketCors', 'cors', 404, readingSettings),
  settingsOf(
    'PutBucketCors',
    'cors',
    200,
    writingSettings,
    'PUT',
    '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>' +
      '</CORSConfiguration>',
  ),
  settingsOf('DeleteBucketCors', 'cors', 204, writingSettings, 'DELETE'),
  settingsOf('GetBucketWebsite', 'website', 404, readingSettings),
  settingsOf(
    'PutBucketWebsite',
    'website',
    200,
    writingSettings,
    'PUT',
    '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>',
  ),
  settingsOf('DeleteBucketWebsite', 'website', 204, writingSettings, 'DELETE'),

  {
    ...{ operation: 'GetAccount', request: () => ({ path: '/', query: 'account' }), ok: 200 },
    expected: expected({ private: users, granted: users, public: users, allowed: users, denied: users }),
  },
  // Without what delivers events: the webhooks of the caller's own project, whatever the rules of a bucket are.
  ofWebhooks('ListWebhooks', 'GET', 'webhooks', 200),
  ofWebhooks('GetWebhook', 'GET', 'webhook&name=none', 404),
  ofWebhooks('PutWebhook', 'PUT', 'webhook&name=new', 400, '<Webhook><Url>https://hooks.example/</Url></Webhook>'),
  ofWebhooks('DeleteWebhook', 'DELETE', 'webhook&name=none', 404),
  ofWebhooks('RotateWebhookSecret', 'POST', 'webhook-secret&name=none', 404),
  ofWebhooks('TestWebhook', 'POST', 'webhook-test&name=none', 404),
  settingsOf('ListEventDeliveries', 'event-deliveries', 200, beyondPolicies),
  settingsOf('ReplayEvents', 'event-deliveries', 200, beyondPolicies, 'POST'),
  // Stillage's own, of which no policy speaks: for the owner of the bucket and, of links, that of the object.
  settingsOf('GetBucketQuota', 'quota', 200, beyondPolicies),
  settingsOf('GetBucketMonitoring', 'monitoring', 200, beyondPolicies),
  settingsOf(
    'PutBucketMonitoring',
    'monitoring',
    200,
    beyondPolicies,
    'PUT',
    '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>',
  ),
  settingsOf(
    'GetMetricData',
    'metric-data&metric=NumberOfObjects&statistic=Average&period=300' +
      '&start=2026-01-01T00%3A00%3A00Z&end=2026-01-01T01%3A00%3A00Z',
    200,
    beyondPolicies,
  ),
  settingsOf('ListAlarms', 'alarms', 200, beyondPolicies),
  settingsOf('GetAlarm', 'alarm&name=none', 404, beyondPolicies),
  settingsOf('GetAlarmHistory', 'alarm-history&name=none', 404, beyondPolicies),
  // Monitoring is off.
  settingsOf(
    'PutAlarm',
    'alarm&name=new',
    409,
    beyondPolicies,
    'PUT',
    '<Alarm><Metric>NumberOfObjects</Metric><Statistic>Average</Statistic>' +
      '<ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>1</Threshold>' +
      '<Period>300</Period><EvaluationPeriods>1</EvaluationPeriods></Alarm>',
  ),
  settingsOf('DeleteAlarm', 'alarm&name=none', 404, beyondPolicies, 'DELETE'),
  ...(['own', 'theirs'] as const).flatMap((key) => {
    const of = key === 'own' ? beyondPolicies : alsoObjectOwner(beyondPolicies);
    const path = `/bucket/${key}`;
    return [
      // It lets everybody read, so its creator must be allowed to.
      ofObject('CreatePublicLink', path, 201, { ...of, denied: [] }, { method: 'POST', query: 'public-link' }, key),
      ofObject('ListPublicLinks', path, 200, of, { query: 'public-link' }, key),
      ofObject('DeletePublicLink', path, 404, of, { method: 'DELETE', query: 'public-link&id=none' }, key),
    ];
  }),

  ofObject('PutObject', '/bucket/new', 200, writing, { method: 'PUT', body: 'x' }),
  ofObject('PutObject', '/bucket/own', 200, writing, { method: 'PUT', body: 'x' }, 'over an object'),
  ofObject('PutObject', '/bucket/theirs', 200, writing, { method: 'PUT', body: 'x' }, 'over one of another project'),
  ofObject(
    'PutObject',
    '/bucket/new',
    200,
    writing,
    { method: 'PUT', body: 'x', headers: { 'x-amz-acl': 'public-read', 'x-amz-tagging': 'k=v' } },
    'with an ACL and tags',
  ),
  ofObject('DeleteObject', '/bucket/own', 204, writing, { method: 'DELETE' }),
  ofObject(
    'DeleteObject',
    '/bucket/theirs',
    204,
    // The one right that the bucket's owner has not: to delete an object of another project without naming its version.
    {
      private: [],
      granted: ['writer', 'fullController'],
      public: everybody.filter((one) => !(owners as readonly Caller[]).includes(one)),
      allowed: everybody.filter((one) => !(owners as readonly Caller[]).includes(one)),
      denied: [],
    },
    { method: 'DELETE' },
    'one of another project',
  ),
  {
    ...settingsOf('DeleteObjects', 'delete', 200, writing, 'POST', '<Delete><Object><Key>own</Key></Object></Delete>'),
  },
  {
    operation: 'PostObject',
    request: () => ({
      ...{ method: 'POST', path: '/bucket' },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: [
        ...['--b', 'Content-Disposition: form-data; name="key"', '', 'new'],
        ...['--b', 'Content-Disposition: form-data; name="file"', '', 'x', '--b--', ''],
      ].join('\r\n'),
    }),
    ok: 204,
    expected: writing,
  },
  ofObject(
    'CopyObject',
    '/bucket/new',
    200,
    { ...writing, granted: [...owners, 'fullController'] },
    copyFrom('/bucket/own'),
  ),
  ofObject(
    'CopyObject',
    '/bucket/new',
    200,
    {
      ...ofObjectOwner({ ...writing, granted: [...owners, 'fullController'] }),
      private: owners,
      granted: [...owners, 'fullController'],
    },
    copyFrom('/bucket/theirs'),
    'of an object of another project',
  ),
  ofObject(
    'RenameObject',
    '/bucket/new',
    200,
    { ...writing, granted: [...owners, 'fullController'] },
    { method: 'PUT', query: 'renameObject', headers: { 'x-amz-rename-source': '/bucket/own' } },
  ),

  // An upload needs an initiator with a key, and only its project continues it.
  ofObject('CreateMultipartUpload', '/bucket/new', 200, writingOfUsers, { method: 'POST', query: 'uploads' }),
  {
    operation: 'UploadPart',
    request: ({ uploadId }) => ({
      ...{ method: 'PUT', path: '/bucket/upload', query: `partNumber=1&uploadId=${uploadId}`, body: 'x' },
    }),
    ok: 200,
    expected: { private: owners, granted: owners, public: owners, allowed: owners, denied: [] },
  },
  {
    operation: 'UploadPartCopy',
    request: ({ uploadId }) => ({
      ...{ method: 'PUT', path: '/bucket/upload', query: `partNumber=1&uploadId=${uploadId}` },
      headers: { 'x-amz-copy-source': '/bucket/own' },
    }),
    ok: 200,
    expected: { private: owners, granted: owners, public: owners, allowed: owners, denied: [] },
  },
  {
    operation: 'CompleteMultipartUpload',
    request: ({ uploadId }) => ({
      ...{ method: 'POST', path: '/bucket/upload', query: `uploadId=${uploadId}` },
      body:
        '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>' +
        '<ETag>9dd4e461268c8034f5c8564e155c67a6</ETag></Part></CompleteMultipartUpload>',
    }),
    ok: 200,
    expected: { private: owners, granted: owners, public: owners, allowed: owners, denied: [] },
  },
  {
    operation: 'ListParts',
    request: ({ uploadId }) => ({ path: '/bucket/upload', query: `uploadId=${uploadId}` }),
    ok: 200,
    expected: expected({}),
  },
  {
    operation: 'AbortMultipartUpload',
    request: ({ uploadId }) => ({ method: 'DELETE', path: '/bucket/upload', query: `uploadId=${uploadId}` }),
    ok: 204,
    expected: expected({}),
  },
  ...objectRows(),
];

/** Whether a request was authorised: it succeeded, or reports that there is nothing. */
export function isThrough(answer: Answered, { ok }: Row): boolean {
  const found = ok === 404 && (answer.status === 200 || answer.status === 204);
  if (answer.code === 'NoSuchUpload') return false;
  return (answer.status === ok || found) && !answer.text.includes('<Code>AccessDenied</Code>');
}

/** How it looks to be refused: one may not, or there is no such upload. */
export function isRefused(answer: Answered): boolean {
  if (answer.text.includes('<Code>AccessDenied</Code>')) return true;
  return answer.status === 403 || (answer.status === 404 && answer.code === 'NoSuchUpload');
}

/** @param more callers besides {@link people} */
export async function stateOf(setting: Setting, more: readonly Person[] = []): Promise<State> {
  const service = new PipelineInProcess([...Object.values(people), ...more]);
  const { owner, objectOwner } = people;
  const send = async (request: Unsigned, by = owner): Promise<Answered> => {
    const answer = await service.send(request, by);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  await send({ method: 'PUT', path: '/bucket' });
  await send({ method: 'PUT', path: '/bucket/own', body: 'own' });
  const begun = await send({ method: 'POST', path: '/bucket/upload', query: 'uploads' });
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.text)![1]!;
  await send({ method: 'PUT', path: '/bucket/upload', query: `partNumber=1&uploadId=${uploadId}`, body: 'x' });
  const { buckets, objects } = service.services;
  await buckets.documents.set(asService(await buckets.load('bucket')), 'acl', aclDocument(publicAcl));
  await send({ method: 'PUT', path: '/bucket/theirs', body: 'theirs' }, objectOwner);
  await buckets.documents.set(asService(await buckets.load('bucket')), 'acl', undefined);
  const grants = setting === 'public' ? publicAcl : setting === 'granted' || setting === 'denied' ? acl : undefined;
  if (grants) {
    const document = aclDocument(grants);
    await buckets.documents.set(asService(await buckets.load('bucket')), 'acl', document);
    const bucket = await buckets.load('bucket');
    for (const key of ['own', 'theirs']) {
      await objects.revise(asService(bucket, key), (objectAttributes) => ({
        ...objectAttributes,
        grants: document['grants'] as readonly string[],
      }));
    }
  }
  if (setting === 'allowed' || setting === 'denied') {
    const text = policy(setting === 'allowed' ? 'Allow' : 'Deny');
    await buckets.documents.set(
      asService(await buckets.load('bucket')),
      'policy',
      policyDocument(text, new Map(), false),
    );
  }
  return { service, uploadId };
}
