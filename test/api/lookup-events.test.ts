import { AttachUserPolicyCommand, CreateAccessKeyCommand, CreateUserCommand } from '@aws-sdk/client-iam';
import { CreateBucketCommand, DeleteBucketPolicyCommand, PutBucketTaggingCommand } from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, GetFederationTokenCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { found, lookUp, lookup, type AnyKey, type Found, type FoundEvent } from '../support/clients/cloudtrail.ts';
import { allowing, iamClient, outcome } from '../support/clients/iam.ts';
import type { Key } from '../support/clients/signer.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { makeKey, type MadeKey } from '../support/storage/administration.ts';
import { put } from '../support/storage/objects.ts';
import { untilFound } from '../support/runs/eventually.ts';

const service = serviceUnderTest();

describe.runIf(isAdministered)('LookupEvents', () => {
  const policy = 'arn:aws:iam::aws:policy/AWSCloudTrail_ReadOnlyAccess';
  let [root, stranger]: MadeKey[] = [];
  let account: string;
  let Bucket: string;
  let names = 0;

  beforeAll(async () => {
    [root, stranger] = await Promise.all(
      ['shop', 'other'].map((project) => makeKey(service.place, `${project}:owner-of-${project}@${bucketName()}`)),
    );
    const identity = await sts(root!).send(new GetCallerIdentityCommand({}));
    account = identity.Account!;
    Bucket = bucketName();
    const [client, others] = [service.sdk(root), service.sdk(stranger)];
    await client.send(new CreateBucketCommand({ Bucket }));
    await put(client, Bucket, 'data', 'is no event');
    for (const Key of ['first', 'second'])
      await client.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key, Value: 'v' }] } }));
    expect(await outcome(others.send(new DeleteBucketPolicyCommand({ Bucket })))).toBe('AccessDenied');
    const made = ['DeleteBucketPolicy', 'PutBucketTagging', 'PutBucketTagging', 'CreateBucket'];
    // Records are written soon after the act.
    await untilFound(async () =>
      (await events()).map(({ EventName }) => EventName).join() === made.join() ? true : undefined,
    );
    client.destroy();
    others.destroy();
  });

  const sts = (key: Key): STSClient =>
    new STSClient({
      ...{ endpoint: service.url, region: 'us-east-1' },
      credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
    });
  const look = (body?: object | string, key: AnyKey = root!) => lookUp(service, key, body);
  const events = async (body: object = {}): Promise<readonly FoundEvent[]> =>
    (await found(service, root!, body)).Events;
  const where = (AttributeKey: string, AttributeValue: string): object => ({
    LookupAttributes: [{ AttributeKey, AttributeValue }],
  });
  /** Makes a user without policies, but for one. */
  const newUser = async (PolicyArn?: string): Promise<Key> => {
    const iam = iamClient(service.url, root!);
    const UserName = `user-${(names += 1)}`;
    await iam.send(new CreateUserCommand({ UserName }));
    if (PolicyArn !== undefined) await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn }));
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
    iam.destroy();
    return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
  };

  it('shows who changed what, in the form of CloudTrail', async () => {
    const [made] = await events(where('EventName', 'CreateBucket'));
    const { CloudTrailEvent, ...shown } = made!;
    expect(shown).toEqual({
      EventId: expect.stringMatching(/./) as string,
      EventName: 'CreateBucket',
      ReadOnly: 'false',
      AccessKeyId: root!.accessKeyId,
      EventTime: expect.closeTo(Date.now() / 1000, -3) as number,
      EventSource: 's3.amazonaws.com',
      Username: 'root',
      Resources: [{ ResourceType: 'AWS::S3::Bucket', ResourceName: Bucket }],
    });
    expect(JSON.parse(CloudTrailEvent)).toMatchObject({
      ...{ eventID: shown.EventId, eventName: 'CreateBucket', recipientAccountId: account, readOnly: false },
      userIdentity: {
        ...{ type: 'Root', arn: `arn:aws:iam::${account}:root`, accountId: account },
        accessKeyId: root!.accessKeyId,
      },
    });
  });

  it('shows of an act of IAM whom and what it was about, with its parameters', async () => {
    await newUser(policy);
    const about = (type: string, ResourceName: string) => ({ ResourceType: `AWS::IAM::${type}`, ResourceName });
    const user = `user-${names}`;
    const attached = await untilFound(async () => (await events(where('ResourceName', user))).at(-2));
    expect(attached.EventName).toBe('AttachUserPolicy');
    expect(attached.Resources).toEqual([about('User', user), about('Policy', policy)]);
    const { requestParameters } = JSON.parse(attached.CloudTrailEvent) as { readonly requestParameters: unknown };
    expect(requestParameters).toEqual({ userName: user, policyArn: policy });
  });

  it('finds by one attribute', async () => {
    const count = async (key: string, value: string): Promise<number> => (await events(where(key, value))).length;
    const all = await events();
    const [{ EventId }] = all as [FoundEvent];
    const counts = {
      EventId: await count('EventId', EventId),
      EventName: await count('EventName', 'PutBucketTagging'),
      ReadOnly: [await count('ReadOnly', 'true'), (await count('ReadOnly', 'false')) >= 4],
      Username: [await count('Username', 'nobody'), (await count('Username', 'root')) >= 3],
      ResourceType: [await count('ResourceType', 'AWS::S3::Object'), await count('ResourceType', 'AWS::S3::Bucket')],
      ResourceName: [await count('ResourceName', 'other'), await count('ResourceName', Bucket)],
      EventSource: [await count('EventSource', 'ec2.amazonaws.com'), await count('EventSource', 's3.amazonaws.com')],
      AccessKeyId: (await count('AccessKeyId', root!.accessKeyId)) >= 3,
    };
    expect(counts).toEqual({
      ...{ EventId: 1, EventName: 2, ReadOnly: [0, true], Username: [0, true], ResourceType: [0, 4] },
      ...{ ResourceName: [0, 4], EventSource: [0, 4], AccessKeyId: true },
    });
  });

  it('finds within a time, newest first, page by page', async () => {
    const only = where('EventSource', 's3.amazonaws.com');
    const pages: Found[] = [];
    do {
      const NextToken = pages.at(-1)?.NextToken;
      pages.push(await found(service, root!, { ...only, MaxResults: 1, ...(NextToken && { NextToken }) }));
    } while (pages.at(-1)!.NextToken !== undefined);
    const names = pages.flatMap(({ Events }) => Events.map(({ EventName }) => EventName));
    expect(names).toEqual(['DeleteBucketPolicy', 'PutBucketTagging', 'PutBucketTagging', 'CreateBucket']);
    const [newest, oldest] = [pages[0]!, pages[3]!].map(({ Events }) => Events[0]!.EventTime);
    expect((await events({ ...only, StartTime: oldest, EndTime: newest })).length).toBe(4);
    expect(await events({ ...only, EndTime: oldest! - 1 })).toEqual([]);
    expect(await events({ ...only, StartTime: newest! + 1 })).toEqual([]);
    expect(await events({ EventCategory: 'insight' })).toEqual([]);
  });

  it('shows nothing of another project, and of its people that they were of another', async () => {
    const theirs = await found(service, stranger!);
    expect(JSON.stringify(theirs)).not.toContain(Bucket);
    const [refused] = await events(where('EventName', 'DeleteBucketPolicy'));
    expect(refused).not.toHaveProperty('Username');
    expect(JSON.parse(refused!.CloudTrailEvent)).toMatchObject({
      errorCode: 'AccessDenied',
      userIdentity: { type: 'AWSAccount', principalId: expect.stringMatching(/./) as string },
    });
    for (const secret of [stranger!.accessKeyId, 'owner-of-other']) {
      expect(JSON.stringify(await events())).not.toContain(secret);
      for (const attribute of ['AccessKeyId', 'Username']) expect(await events(where(attribute, secret))).toEqual([]);
    }
  });

  it('goes on from its own token alone, with the same request', async () => {
    const only = where('EventSource', 's3.amazonaws.com');
    const { NextToken = '' } = await found(service, root!, { ...only, MaxResults: 1 });
    const forged = `${NextToken.slice(0, -2)}${NextToken.endsWith('AA') ? 'BB' : 'AA'}`;
    const refused = [400, 'InvalidNextTokenException'];
    for (const token of [forged, '', 'x', 'AAAA'.repeat(20), 7])
      expect(await look({ ...only, NextToken: token }), String(token)).toEqual(refused);
    expect(await look({ NextToken })).toEqual(refused);
    expect(await look({ ...only, NextToken }, stranger)).toEqual(refused);
    expect((await found(service, root!, { ...only, NextToken })).Events).toHaveLength(3);
  });

  it('is for whom a policy allows it, as far as a session does', async () => {
    const denied = [400, 'AccessDeniedException'];
    const [none, auditor] = [await newUser(), await newUser(policy)];
    expect(await look({}, none)).toEqual(denied);
    await expect.poll(() => look({}, auditor)).toHaveProperty('Events');
    // Full access to S3 is none to the log.
    const full = await newUser('arn:aws:iam::aws:policy/FullAccess');
    expect(await look({}, full)).toEqual(denied);
    const sessionWith = async (Policy: string) => {
      const { Credentials } = await sts(root!).send(new GetFederationTokenCommand({ Name: 'guest', Policy }));
      const { AccessKeyId, SecretAccessKey, SessionToken } = Credentials!;
      return look({}, { accessKeyId: AccessKeyId!, secretAccessKey: SecretAccessKey!, sessionToken: SessionToken });
    };
    expect(await sessionWith(allowing('s3:*'))).toEqual(denied);
    expect(await sessionWith(allowing('cloudtrail:LookupEvents'))).toHaveProperty('Events');
  });

  it.each([
    ['InvalidLookupAttributesException', where('Colour', 'red')],
    ['InvalidLookupAttributesException', where('__proto__', 'x')],
    ['InvalidLookupAttributesException', where('EventName', '')],
    ['InvalidLookupAttributesException', where('EventName', 'x'.repeat(2001))],
    ['InvalidLookupAttributesException', { LookupAttributes: 'EventName' }],
    ['InvalidLookupAttributesException', { LookupAttributes: [null] }],
    [
      'InvalidLookupAttributesException',
      { LookupAttributes: ['a', 'b'].map((AttributeValue) => ({ AttributeKey: 'EventName', AttributeValue })) },
    ],
    ['InvalidTimeRangeException', { StartTime: 2, EndTime: 1 }],
    ['InvalidTimeRangeException', { StartTime: 'yesterday' }],
    ['InvalidTimeRangeException', { EndTime: 1e300 }],
    ['InvalidMaxResultsException', { MaxResults: 0 }],
    ['InvalidMaxResultsException', { MaxResults: 51 }],
    ['InvalidMaxResultsException', { MaxResults: 1.5 }],
    ['InvalidEventCategoryException', { EventCategory: 'data' }],
    ['SerializationException', 'no JSON'],
    ['SerializationException', '[]'],
    ['SerializationException', 'null'],
  ])('answers %s to a request that is not valid (%#)', async (code, body) => {
    expect(await look(body)).toEqual([400, code]);
  });

  it('knows no other operation, and nobody without a key', async () => {
    const { headers, ...request } = lookup();
    const key = { accessKeyId: root!.accessKeyId, secretAccessKey: root!.secretAccessKey };
    for (const target of ['CloudTrail_20131101.ListTrails', 'LookupEvents', '']) {
      const { status, text } = await service.send({ ...request, headers: { 'x-amz-target': target } }, { key });
      expect([status, JSON.parse(text)]).toMatchObject([400, { __type: 'UnknownOperationException' }]);
    }
    expect(await look({}, { ...root!, secretAccessKey: 'guessed' })).toEqual([400, 'InvalidSignatureException']);
    const unknown = { ...root!, accessKeyId: 'AKIAUNKNOWNUNKNOWN00' };
    expect(await look({}, unknown)).toEqual([400, 'UnrecognizedClientException']);
    const wrongApi = await service.send({ ...request, headers: headers!, service: 'sts' }, { key });
    expect(wrongApi.text).toContain('<Code>InvalidAction</Code>');
    expect((await service.sendUnsigned({ ...request, headers: headers! })).status).toBe(405);
  });
});
