import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { md5Tag } from '../support/storage/objects.ts';
import { administer } from '../support/storage/administration.ts';
import { accounts } from '../support/programs/server.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Condition keys of AWS's own table: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html */

const service = serviceUnderTest();

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: string;
  readonly Condition?: object;
}

async function putPolicy(bucket: string, statements: readonly Statement[]): Promise<RawResponse> {
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const Statement = statements.map((one) => ({ Principal: '*', Resource, Action: 's3:*', ...one }));
  const body = JSON.stringify({ Version: '2012-10-17', Statement });
  return service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body });
}

/** A bucket with an object, that allows everybody everything but what is denied on this condition. */
async function denying(Condition: object, Action = 's3:GetObject'): Promise<string> {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'content');
  const answer = await putPolicy(bucket, [{ Effect: 'Allow' }, { Effect: 'Deny', Action, Condition }]);
  expect(answer.status, answer.text).toBe(204);
  return bucket;
}

const stranger = { key: service.bob };
const get = (bucket: string): Promise<RawResponse> => service.send({ path: `/${bucket}/key` }, stranger);
const upload = (bucket: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> =>
  service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: 'new' }, stranger);

/** Keys of AWS that nothing here has a value for. */
const absent = [
  ...['aws:CalledVia', 'aws:CalledViaFirst', 'aws:CalledViaLast', 'aws:SourceVpc', 'aws:SourceVpce', 'aws:VpcSourceIp'],
  ...['aws:SourceArn', 'aws:SourceAccount', 'aws:SourceOrgID', 'aws:SourceOrgPaths', 'aws:SourceOwner'],
  ...['aws:PrincipalOrgID', 'aws:PrincipalOrgPaths', 'aws:PrincipalTag/team', 'aws:PrincipalServiceName'],
  ...['aws:PrincipalServiceNamesList', 'aws:ResourceOrgID', 'aws:ResourceOrgPaths', 'aws:ResourceTag/team'],
  ...['aws:RequestTag/team', 'aws:TagKeys', 'aws:MultiFactorAuthPresent', 'aws:MultiFactorAuthAge'],
  ...['aws:FederatedProvider', 'aws:TokenIssueTime', 'aws:SourceIdentity', 'aws:userid', 'aws:Ec2InstanceSourceVpc'],
  ...['aws:Ec2InstanceSourcePrivateIPv4', 'ec2:RoleDelivery', 'ec2:SourceInstanceArn'],
  ...[
    's3:AccessGrantsInstanceArn',
    's3:AccessPointNetworkOrigin',
    's3:DataAccessPointAccount',
    's3:DataAccessPointArn',
  ],
  ...['s3:AccessPointTag/team', 's3:BucketTag/team', 's3:ExistingJobOperation', 's3:ExistingJobPriority'],
  ...[
    's3:RequestJobOperation',
    's3:RequestJobPriority',
    's3:JobSuspendedCause',
    's3:InventoryAccessibleOptionalFields',
  ],
  ...['s3:destinationRegion', 's3:isReplicationPauseRequest', 's3:x-amz-server-side-encryption-aws-kms-key-id'],
];

describe('a condition key that nothing here has a value for', () => {
  it.each(absent)('is accepted, and never met: %s', async (name) => {
    const bucket = await denying({ StringLike: { [name]: '*' } });
    expect((await get(bucket)).status).toBe(200);
  });

  it('is absent for Null and …IfExists', async () => {
    for (const name of ['aws:SourceVpce', 'aws:PrincipalTag/team', 's3:DataAccessPointArn']) {
      expectError(await get(await denying({ Null: { [name]: 'true' } })), 403, 'AccessDenied');
      expect((await get(await denying({ Null: { [name]: 'false' } }))).status).toBe(200);
      expectError(await get(await denying({ StringEqualsIfExists: { [name]: 'x' } })), 403, 'AccessDenied');
    }
  });

  it.each(['s3:nonsense', 'aws:nonsense', 's3:prefixes', 'iam:PassedToService', 's3:DataAccessPointArn/x'])(
    'is refused if AWS does not have it either: %s',
    async (name) => {
      const bucket = await service.bucket();
      const refused = await putPolicy(bucket, [{ Effect: 'Deny', Condition: { StringEquals: { [name]: 'x' } } }]);
      expectError(refused, 400, 'MalformedPolicy');
    },
  );
});

describe('the condition key', () => {
  it('s3:TlsVersion is absent without TLS, so that a minimum denies it', async () => {
    const bucket = await denying({ NumericLessThan: { 's3:TlsVersion': '1.2' } }, 's3:PutObject');
    expect((await upload(bucket)).status).toBe(200);
    const strict = await denying({ NumericLessThanIfExists: { 's3:TlsVersion': '1.2' } }, 's3:PutObject');
    expectError(await upload(strict), 403, 'AccessDenied');
  });

  it('s3:if-none-match and s3:if-match enforce conditional writes', async () => {
    const must = { Null: { 's3:if-none-match': 'true', 's3:if-match': 'true' } };
    const bucket = await denying(must, 's3:PutObject');
    expectError(await upload(bucket), 403, 'AccessDenied');
    expectError(await upload(bucket, { 'if-none-match': '*' }), 412, 'PreconditionFailed');
    expect((await upload(bucket, { 'if-match': md5Tag('content') })).status).toBe(200);
    const same = await denying({ StringNotEquals: { 's3:if-match': md5Tag('content') } }, 's3:PutObject');
    expect((await upload(same, { 'if-match': md5Tag('content') })).status).toBe(200);
    expectError(await upload(same, { 'if-match': md5Tag('other') }), 403, 'AccessDenied');
  });

  it('s3:ObjectCreationOperation lets the parts of an upload pass', async () => {
    const must = { Null: { 's3:if-none-match': 'true' }, Bool: { 's3:ObjectCreationOperation': 'true' } };
    const bucket = await denying(must, 's3:PutObject');
    expectError(await upload(bucket), 403, 'AccessDenied');
    const path = `/${bucket}/parts`;
    const created = await service.send({ method: 'POST', path, query: 'uploads' }, stranger);
    const id = /<UploadId>([^<]+)</.exec(created.text)![1]!;
    const part = { method: 'PUT', path, query: `partNumber=1&uploadId=${id}`, body: 'content' };
    const { status, header } = await service.send(part, stranger);
    expect(status).toBe(200);
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${header('etag')}</ETag></Part></CompleteMultipartUpload>`;
    const complete = { method: 'POST', path, query: `uploadId=${id}`, body };
    expectError(await service.send(complete, stranger), 403, 'AccessDenied');
    expect((await service.send({ ...complete, headers: { 'if-none-match': '*' } }, stranger)).status).toBe(200);
  });

  it('s3:signatureAge is the age of a signature in milliseconds', async () => {
    const young = await denying({ NumericGreaterThan: { 's3:signatureAge': '600000' } });
    expect((await get(young)).status).toBe(200);
    const old = await denying({ NumericGreaterThan: { 's3:signatureAge': '-1' } });
    expectError(await get(old), 403, 'AccessDenied');
  });

  it('s3:x-amz-content-sha256 is the header, so that unsigned bodies can be refused', async () => {
    const bucket = await denying({ StringEquals: { 's3:x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }, 's3:PutObject');
    const request = { method: 'PUT', path: `/${bucket}/key`, body: 'new' };
    const unsigned = await service.send(request, { ...stranger, payloadHash: 'UNSIGNED-PAYLOAD' });
    expectError(unsigned, 403, 'AccessDenied');
    expect((await upload(bucket)).status).toBe(200);
  });

  it('s3:x-amz-storage-class and s3:x-amz-website-redirect-location are what an upload asks for', async () => {
    const bucket = await denying({ StringEquals: { 's3:x-amz-storage-class': 'STANDARD_IA' } }, 's3:PutObject');
    expectError(await upload(bucket, { 'x-amz-storage-class': 'STANDARD_IA' }), 403, 'AccessDenied');
    expect((await upload(bucket, { 'x-amz-storage-class': 'STANDARD' })).status).toBe(200);
    const still = await denying({ Null: { 's3:x-amz-website-redirect-location': 'false' } }, 's3:PutObject');
    expectError(await upload(still, { 'x-amz-website-redirect-location': '/a' }), 403, 'AccessDenied');
    expect((await upload(still)).status).toBe(200);
  });

  it('s3:RequestObjectTagKeys are the keys of the tags that a request sets', async () => {
    const only = { 'ForAnyValue:StringNotEquals': { 's3:RequestObjectTagKeys': ['team', 'stage'] } };
    const bucket = await denying(only, 's3:PutObject');
    expect((await upload(bucket, { 'x-amz-tagging': 'team=a&stage=b' })).status).toBe(200);
    expectError(await upload(bucket, { 'x-amz-tagging': 'team=a&other=b' }), 403, 'AccessDenied');
  });

  it('aws:PrincipalAccount, aws:ResourceAccount and aws:RequestedRegion are those of the caller, the bucket and the service', async () => {
    const own = { StringEquals: { 'aws:PrincipalAccount': '${aws:ResourceAccount}' } };
    const bucket = await denying(own);
    expect((await get(bucket)).status).toBe(200);
    expectError(await get(await denying({ Null: { 'aws:ResourceAccount': 'false' } })), 403, 'AccessDenied');
    expectError(await get(await denying({ Null: { 'aws:PrincipalAccount': 'false' } })), 403, 'AccessDenied');
    expectError(await get(await denying({ StringLike: { 'aws:RequestedRegion': '*' } })), 403, 'AccessDenied');
    expect((await get(await denying({ StringEquals: { 'aws:RequestedRegion': 'nowhere-1' } }))).status).toBe(200);
  });

  it.runIf(isAdministered)('aws:PrincipalArn and both accounts may be named by account numbers', async () => {
    const numberOf = async (id: string): Promise<string> =>
      (await administer<{ accountNumber: string }>(service.place, 'project', 'show', id)).accountNumber;
    const [own, other] = await Promise.all([numberOf(accounts[0].id), numberOf(accounts[1].id)]);
    const wrong = { StringNotEquals: { 'aws:ResourceAccount': own, 'aws:PrincipalAccount': other } };
    expect((await get(await denying(wrong))).status).toBe(200);
    for (const condition of [
      { StringEquals: { 'aws:ResourceAccount': own } },
      { StringEquals: { 'aws:PrincipalAccount': other } },
      { 'ForAllValues:StringEquals': { 'aws:PrincipalAccount': other } },
      { ArnLike: { 'aws:PrincipalArn': `arn:aws:iam::${other}:user/*` } },
      { StringNotEquals: { 'aws:PrincipalAccount': own } },
    ]) {
      expectError(await get(await denying(condition)), 403, 'AccessDenied');
    }
  });

  it('aws:ViaAWSService and aws:PrincipalIsAWSService are false, so that rules for direct requests hold', async () => {
    for (const name of ['aws:ViaAWSService', 'aws:PrincipalIsAWSService']) {
      expectError(await get(await denying({ Bool: { [name]: 'false' } })), 403, 'AccessDenied');
      expect((await get(await denying({ Bool: { [name]: 'true' } }))).status).toBe(200);
    }
  });
});
