import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { textOf } from '../clients/expect-error.ts';
import { formEnd, formStart, formType, signedV4 } from '../clients/form.ts';
import type { Holding } from '../clients/held-request.ts';
import type { RawResponse } from '../clients/raw-client.ts';
import type { ServiceUnderTest } from '../programs/service-under-test.ts';
import { pathOf, queryOf, type Key, type Unsigned } from '../clients/signer.ts';

/*
 * A request for each operation that changes data. Each has a body, meaningful or not, so that it can be held.
 */

/** The bucket in which something is changed, and the callers. */
export interface Scene {
  readonly service: ServiceUnderTest;
  readonly bucket: string;
  /** The key of the bucket's owner. */
  readonly owner: Key;
  /** The key that signs the request. */
  readonly caller: Key;
  /** A publicly readable object: `/bucket/key` */
  readonly source: string;
}

/** The ids, chosen by the service, that requests have to name. */
interface Ids {
  readonly uploadId?: string;
  readonly linkId?: string;
  readonly etag?: string;
}

export interface Change {
  /** S3's name, and which of several requests for it. */
  readonly name: string;
  readonly operation: string;
  /** `data`: rights count when the request comes. `settings`: they count at the commit. */
  readonly kind: 'settings' | 'data';
  /** Its action in policies; a Deny of it binds the owner of the bucket, too. */
  readonly action?: string;
  /** The ways in which the bucket's owner can grant others the right to it. */
  readonly grants?: readonly Way[];
  /** It is for a bucket without objects. */
  readonly wantsEmpty?: true;
  /** The way in which the request is held, if it differs from the default. */
  readonly holding?: Partial<Holding>;
  /** Creates the resources that the request changes. */
  readonly prepare?: (scene: Scene) => Promise<Ids>;
  readonly request: (scene: Scene, ids: Ids) => Unsigned;
}

/** The means by which others get a right, or the owner loses one. */
type Way = 'policy' | 'acl';

/** The key that requests are about. */
export const key = 'key';
/** The new name that RenameObject gives. */
const renamed = 'renamed';

/** Sends a request, which must succeed. */
export async function done(service: ServiceUnderTest, by: Key, request: Unsigned): Promise<RawResponse> {
  const response = await service.send(request, { key: by });
  const { method = 'GET', path, query = '' } = request;
  expect(response.status, `${method} ${path}?${query}: ${response.text}`).toBeLessThan(300);
  return response;
}

/** Puts an object, which its sender owns. */
export async function putKey({ service, bucket }: Scene, by: Key, name = key): Promise<void> {
  await done(service, by, { method: 'PUT', path: pathOf(bucket, name), body: `of ${by.accessKeyId}` });
}

/** A body that means nothing. */
const meaningless = 'xx';

const digestOf = (document: string): Record<string, string> => ({
  'content-md5': createHash('md5').update(document).digest('base64'),
});

/** Headers that grant everybody a right. A document would be refused beside them, so there is no body. */
const open = { 'x-amz-acl': 'public-read-write' };

const both = ['policy', 'acl'] as const;

type Known = Omit<Change, 'name' | 'operation' | 'request'>;

/** PutX, and DeleteX if there is one. */
function setting(
  names: readonly [put: string, remove?: string],
  query: string,
  document: string | ((scene: Scene) => string),
  known: Known & { readonly removal?: Partial<Known> },
): readonly Change[] {
  const { removal, ...ofBoth } = known;
  const [put, remove] = names;
  const request = (scene: Scene): Unsigned => {
    const body = typeof document === 'string' ? document : document(scene);
    return { method: 'PUT', path: pathOf(scene.bucket), query, body, headers: digestOf(body) };
  };
  return [
    { ...ofBoth, name: put, operation: put, request },
    ...(remove === undefined
      ? []
      : [
          {
            ...ofBoth,
            ...removal,
            name: remove,
            operation: remove,
            prepare: async (scene: Scene) => {
              await ofBoth.prepare?.(scene);
              await done(scene.service, scene.owner, request(scene));
              return {};
            },
            request: ({ bucket }: Scene) => ({ method: 'DELETE', path: pathOf(bucket), query, body: meaningless }),
          },
        ]),
  ];
}

export const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';

/** A policy of one statement, on the bucket and all that is in it. */
export function policyOf(bucket: string, Effect: 'Allow' | 'Deny', Action: string, Principal: unknown = '*'): string {
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  return JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect, Principal, Action, Resource }] });
}

const turnOn = async ({ service, bucket, owner }: Scene): Promise<Ids> => {
  const body = '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>';
  await done(service, owner, { method: 'PUT', path: pathOf(bucket), query: 'monitoring', body });
  return {};
};

const ofBuckets: readonly Change[] = [
  {
    ...{ name: 'PutBucketAcl', operation: 'PutBucketAcl', kind: 'settings', action: 'PutBucketAcl', grants: both },
    holding: { framing: 'chunked' },
    request: ({ bucket }) => ({ method: 'PUT', path: pathOf(bucket), query: 'acl', headers: open }),
  },
  ...setting(
    ['PutBucketPolicy', 'DeleteBucketPolicy'],
    'policy',
    ({ bucket }) => policyOf(bucket, 'Allow', 's3:ListBucket'),
    // Denials spare the owner.
    { kind: 'settings', grants: both },
  ),
  ...setting(
    ['PutBucketCors', 'DeleteBucketCors'],
    'cors',
    '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>' +
      '</CORSConfiguration>',
    { kind: 'settings', action: 'PutBucketCORS', grants: both },
  ),
  ...setting(
    ['PutBucketWebsite', 'DeleteBucketWebsite'],
    'website',
    '<WebsiteConfiguration><IndexDocument><Suffix>key</Suffix></IndexDocument></WebsiteConfiguration>',
    {
      kind: 'settings',
      action: 'PutBucketWebsite',
      grants: both,
      removal: { action: 'DeleteBucketWebsite' },
    },
  ),
  ...setting(
    ['PutBucketLifecycleConfiguration', 'DeleteBucketLifecycle'],
    'lifecycle',
    '<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>' +
      '</LifecycleConfiguration>',
    { kind: 'settings', action: 'PutLifecycleConfiguration', grants: both },
  ),
  ...setting(['PutBucketLogging'], 'logging', '<BucketLoggingStatus/>', {
    kind: 'settings',
    action: 'PutBucketLogging',
    grants: ['policy'],
  }),
  ...setting(['PutBucketNotificationConfiguration'], 'notification', '<NotificationConfiguration/>', {
    kind: 'settings',
    action: 'PutBucketNotification',
    grants: ['policy'],
  }),
  ...setting(['PutBucketTagging', 'DeleteBucketTagging'], 'tagging', tagging, {
    kind: 'settings',
    action: 'PutBucketTagging',
    grants: both,
  }),
  ...setting(
    ['PutBucketEncryption', 'DeleteBucketEncryption'],
    'encryption',
    '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>' +
      '</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>',
    { kind: 'settings', action: 'PutEncryptionConfiguration', grants: ['policy'] },
  ),
  ...setting(
    ['PutPublicAccessBlock', 'DeletePublicAccessBlock'],
    'publicAccessBlock',
    '<PublicAccessBlockConfiguration/>',
    { kind: 'settings', action: 'PutBucketPublicAccessBlock', grants: ['policy'] },
  ),
  ...setting(
    ['PutBucketOwnershipControls', 'DeleteBucketOwnershipControls'],
    'ownershipControls',
    '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></OwnershipControls>',
    { kind: 'settings', action: 'PutBucketOwnershipControls', grants: ['policy'] },
  ),
  ...setting(
    ['PutBucketVersioning'],
    'versioning',
    '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
    { kind: 'settings', action: 'PutBucketVersioning' },
  ),
  ...setting(
    ['PutObjectLockConfiguration'],
    'object-lock',
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
    {
      ...{ kind: 'settings', action: 'PutBucketObjectLockConfiguration', grants: ['policy'] },
      prepare: async ({ service, bucket, owner }) => {
        const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
        await done(service, owner, { method: 'PUT', path: pathOf(bucket), query: 'versioning', body });
        return {};
      },
    },
  ),
  ...setting(
    ['PutBucketMonitoring'],
    'monitoring',
    '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>',
    { kind: 'settings' },
  ),
  ...setting(
    ['PutAlarm', 'DeleteAlarm'],
    'alarm&name=alarm',
    '<Alarm><Metric>NumberOfObjects</Metric><Statistic>Average</Statistic>' +
      '<ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>1</Threshold>' +
      '<Period>300</Period><EvaluationPeriods>1</EvaluationPeriods></Alarm>',
    { kind: 'settings', prepare: turnOn },
  ),
  {
    ...{ name: 'DeleteBucket', operation: 'DeleteBucket', kind: 'settings', action: 'DeleteBucket', wantsEmpty: true },
    request: ({ bucket }) => ({ method: 'DELETE', path: pathOf(bucket), body: meaningless }),
  },
];

const begin = async ({ service, bucket }: Scene, by: Key): Promise<{ uploadId: string }> => {
  const { text } = await done(service, by, { method: 'POST', path: pathOf(bucket, key), query: 'uploads' });
  return { uploadId: textOf(text, 'UploadId')! };
};

const object = (scene: Scene): Promise<Ids> => putKey(scene, scene.owner).then(() => ({}));
const tagged = async (scene: Scene): Promise<Ids> => {
  await object(scene);
  const { service, bucket, owner } = scene;
  await done(service, owner, { method: 'PUT', path: pathOf(bucket, key), query: 'tagging', body: tagging });
  return {};
};

/** A request about the object, current or by its version id. */
function aboutObject(
  operation: string,
  known: Known,
  { query = '', ...rest }: Omit<Unsigned, 'path'>,
): readonly Change[] {
  return [undefined, 'null'].map((versionId) => {
    const whole = [query, versionId && `versionId=${versionId}`].filter((part) => part).join('&');
    return {
      ...{ ...known, operation, name: versionId === undefined ? operation : `${operation} of a version` },
      ...(versionId !== undefined && known.action && { action: known.action.replace('Object', 'ObjectVersion') }),
      request: ({ bucket }) => ({ ...rest, path: pathOf(bucket, key), query: whole }),
    };
  });
}

const [deleteObject, deleteVersion] = aboutObject(
  'DeleteObject',
  { kind: 'settings', action: 'DeleteObject', grants: both, prepare: object },
  { method: 'DELETE', body: meaningless },
);

function deleteObjects(versionId?: string): Change {
  const version = versionId === undefined ? '' : `<VersionId>${versionId}</VersionId>`;
  const body = `<Delete><Object><Key>${key}</Key>${version}</Object></Delete>`;
  return {
    ...{ name: `DeleteObjects${versionId === undefined ? '' : ' of a version'}`, operation: 'DeleteObjects' },
    ...{ kind: 'settings', action: versionId === undefined ? 'DeleteObject' : 'DeleteObjectVersion' },
    ...{ grants: versionId === undefined ? both : ['policy'], prepare: object },
    request: ({ bucket }) => ({
      ...{ method: 'POST', path: pathOf(bucket), query: 'delete', body, headers: digestOf(body) },
    }),
  };
}

/** An object in a bucket with object lock. */
const lockable = async (scene: Scene): Promise<Ids> => {
  const { service, bucket, owner } = scene;
  const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  const lock = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>';
  await done(service, owner, { method: 'PUT', path: pathOf(bucket), query: 'versioning', body: enabled });
  await done(service, owner, { method: 'PUT', path: pathOf(bucket), query: 'object-lock', body: lock });
  return object(scene);
};

const ofObjects: readonly Change[] = [
  // Nothing that would keep the bucket of a test: an empty retention, and a hold that is lifted.
  {
    ...{ name: 'PutObjectRetention', operation: 'PutObjectRetention', kind: 'settings', action: 'PutObjectRetention' },
    ...{ grants: ['policy'], prepare: lockable },
    request: ({ bucket }) => ({ method: 'PUT', path: pathOf(bucket, key), query: 'retention', body: '<Retention/>' }),
  },
  {
    ...{ name: 'PutObjectLegalHold', operation: 'PutObjectLegalHold', kind: 'settings', action: 'PutObjectLegalHold' },
    ...{ grants: ['policy'], prepare: lockable },
    request: ({ bucket }) => ({
      ...{ method: 'PUT', path: pathOf(bucket, key), query: 'legal-hold' },
      body: '<LegalHold><Status>OFF</Status></LegalHold>',
    }),
  },
  ...aboutObject(
    'PutObjectAcl',
    { kind: 'settings', action: 'PutObjectAcl', grants: both, prepare: object, holding: { framing: 'chunked' } },
    { method: 'PUT', query: 'acl', headers: open },
  ),
  ...aboutObject(
    'PutObjectTagging',
    { kind: 'settings', action: 'PutObjectTagging', grants: ['policy'], prepare: object },
    { method: 'PUT', query: 'tagging', body: tagging },
  ),
  ...aboutObject(
    'DeleteObjectTagging',
    { kind: 'settings', action: 'DeleteObjectTagging', grants: ['policy'], prepare: tagged },
    { method: 'DELETE', query: 'tagging', body: meaningless },
  ),
  deleteObject!,
  { ...deleteVersion!, grants: ['policy'] },
  deleteObjects(),
  deleteObjects('null'),
  {
    ...{ name: 'RenameObject', operation: 'RenameObject', kind: 'settings', action: 'DeleteObject' },
    ...{ grants: both, prepare: object },
    request: ({ bucket }) => ({
      ...{ method: 'PUT', path: pathOf(bucket, renamed), query: 'renameObject', body: meaningless },
      headers: { 'x-amz-rename-source': key },
    }),
  },
  {
    ...{ name: 'AbortMultipartUpload', operation: 'AbortMultipartUpload', kind: 'settings' },
    ...{ action: 'AbortMultipartUpload', grants: ['policy'], prepare: (scene) => begin(scene, scene.owner) },
    request: ({ bucket }, { uploadId }) => ({
      ...{ method: 'DELETE', path: pathOf(bucket, key), query: `uploadId=${uploadId}`, body: meaningless },
    }),
  },
  {
    ...{ name: 'CreatePublicLink', operation: 'CreatePublicLink', kind: 'settings', prepare: object },
    request: ({ bucket }) => ({
      ...{ method: 'POST', path: pathOf(bucket, key), query: 'public-link', body: meaningless },
    }),
  },
  {
    ...{ name: 'DeletePublicLink', operation: 'DeletePublicLink', kind: 'settings' },
    prepare: async (scene) => {
      const { service, bucket, owner } = scene;
      await putKey(scene, owner);
      return makeLink(service, bucket, owner);
    },
    request: ({ bucket }, { linkId }) => ({
      ...{ method: 'DELETE', path: pathOf(bucket, key), query: queryOf({ 'public-link': '', id: linkId! }) },
      body: meaningless,
    }),
  },
];

async function makeLink(service: ServiceUnderTest, bucket: string, by: Key): Promise<{ linkId: string }> {
  const { text } = await done(service, by, { method: 'POST', path: pathOf(bucket, key), query: 'public-link' });
  return { linkId: textOf(text, 'Id')! };
}

/** Far more than the system buffers of a connection. */
const fileBytes = 16 * 1024 * 1024;

const data = { kind: 'data', action: 'PutObject', grants: both } as const;
const content = 'of the held request';

const ofData: readonly Change[] = [
  {
    ...{ ...data, name: 'PutObject', operation: 'PutObject' },
    request: ({ bucket }) => ({ method: 'PUT', path: pathOf(bucket, key), body: content }),
  },
  {
    ...{ ...data, name: 'PostObject', operation: 'PostObject' },
    // It is the form that is signed.
    holding: { key: null, keptBack: formEnd.length + 1 },
    request: ({ bucket, caller }) => {
      const conditions = [{ bucket }, { key }, ['content-length-range', 0, fileBytes]];
      const fields = [['key', key] as const, ...signedV4(caller, conditions)];
      const body = Buffer.concat([formStart(fields), Buffer.alloc(fileBytes, content), formEnd]);
      return { method: 'POST', path: pathOf(bucket), headers: { 'content-type': formType }, body };
    },
  },
  {
    ...{ ...data, name: 'CopyObject', operation: 'CopyObject' },
    request: ({ bucket, source }) => ({
      ...{ method: 'PUT', path: pathOf(bucket, key), headers: { 'x-amz-copy-source': source }, body: meaningless },
    }),
  },
  {
    ...{ ...data, name: 'CreateMultipartUpload', operation: 'CreateMultipartUpload' },
    request: ({ bucket }) => ({ method: 'POST', path: pathOf(bucket, key), query: 'uploads', body: meaningless }),
  },
  {
    ...{ ...data, name: 'UploadPart', operation: 'UploadPart' },
    prepare: (scene) => begin(scene, scene.caller),
    request: ({ bucket }, { uploadId }) => ({
      ...{ method: 'PUT', path: pathOf(bucket, key), query: `partNumber=1&uploadId=${uploadId}`, body: content },
    }),
  },
  {
    ...{ ...data, name: 'UploadPartCopy', operation: 'UploadPartCopy' },
    prepare: (scene) => begin(scene, scene.caller),
    request: ({ bucket, source }, { uploadId }) => ({
      ...{ method: 'PUT', path: pathOf(bucket, key), query: `partNumber=1&uploadId=${uploadId}`, body: meaningless },
      headers: { 'x-amz-copy-source': source },
    }),
  },
  {
    ...{ ...data, name: 'CompleteMultipartUpload', operation: 'CompleteMultipartUpload' },
    prepare: async (scene) => {
      const { service, bucket, caller } = scene;
      const { uploadId } = await begin(scene, caller);
      const query = `partNumber=1&uploadId=${uploadId}`;
      const part = { method: 'PUT', path: pathOf(bucket, key), query, body: content };
      return { uploadId, etag: (await done(service, caller, part)).header('etag')! };
    },
    request: ({ bucket }, { uploadId, etag }) => ({
      ...{ method: 'POST', path: pathOf(bucket, key), query: `uploadId=${uploadId}` },
      body:
        '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>' +
        `<ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
    }),
  },
];

/** Every change of an existing bucket, or of its contents. */
export const changes: readonly Change[] = [...ofBuckets, ...ofObjects, ...ofData];

/** Returns everything that the owner can read of a bucket, except its counters, which lag. */
export async function stateOf(service: ServiceUnderTest, bucket: string, owner: Key): Promise<readonly string[]> {
  const ofBucket = ['acl', 'policy', 'cors', 'website', 'lifecycle', 'tagging', 'versioning', 'monitoring', 'alarms'];
  const requests = [
    ...[...ofBucket, 'versions', 'uploads'].map((query) => ({ path: pathOf(bucket), query })),
    ...[key, renamed].flatMap((name) =>
      ['', 'acl', 'tagging', 'public-link'].map((query) => ({ path: pathOf(bucket, name), query })),
    ),
  ];
  return Promise.all(
    requests.map(async (request) => {
      const { status, text } = await service.send(request, { key: owner });
      const said = status === 200 ? text : textOf(text, 'Code');
      return `${request.path}?${request.query} ${status} ${said}`;
    }),
  );
}
