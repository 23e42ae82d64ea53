import { describe, expect, it } from 'vitest';
import { answering } from './support/iam-answers.ts';
import { curlCommand, iamCommand } from '../../console/format/commands.ts';
import { failureOf } from '../../console/s3/failure.ts';
import { formOf } from '../../console/s3/iam-action.ts';
import { changes, createKey, getUser, lastUseOf, listInline, listKeys, listUsers } from '../../console/s3/iam.ts';
import { aUser, inlinePolicy, keys, lastUse, newKey, policyNames, users } from '../../shared/documents/iam.ts';
import { actionError } from '../../shared/documents/query-api.ts';
import { ActionForm } from '../../shared/protocol/query-api/action-form.ts';
import { apis } from '../../shared/protocol/query-api/apis.ts';

const created = Date.UTC(2026, 10, 22, 14);
const arn = 'arn:aws:iam::123456789012:user/ci';
const ci = { UserName: 'ci', UserId: 'USR1', Path: '/', Arn: arn, CreateDate: created };
const target = { endpoint: 'http://127.0.0.1:9000', region: 'eu-north-1' };

describe('an answer of IAM', () => {
  it('is a page of users, and the marker of the next', async () => {
    const value = { IsTruncated: true, Marker: 'c2k', items: [ci] };
    const { client, sent } = answering(() => ({ content: users, value }));
    expect(await listUsers(client, 'Y2k')).toEqual({ items: [ci], next: 'c2k' });
    expect(sent).toEqual([{ name: 'ListUsers', parameters: { MaxItems: '25', Marker: 'Y2k' } }]);
  });

  it('is a user with the permissions boundary', async () => {
    const PermissionsBoundary = {
      PermissionsBoundaryType: 'Policy',
      PermissionsBoundaryArn: 'arn:aws:iam::123456789012:policy/team',
    };
    const value = { User: { ...ci, PermissionsBoundary, Tags: [{ Key: 'a', Value: 'b' }] } };
    const { client } = answering(() => ({ content: aUser, value }));
    expect(await getUser(client, 'ci')).toEqual(value.User);
  });

  it('is read to its last page', async () => {
    const key = (AccessKeyId: string) => ({ UserName: 'ci', AccessKeyId, Status: 'Active', CreateDate: created });
    const { client, sent } = answering(({ parameters }) => ({
      content: keys,
      value:
        parameters['Marker'] === undefined
          ? { IsTruncated: true, Marker: 'next', items: [key('AK1')] }
          : { IsTruncated: false, Marker: undefined, items: [key('AK2')] },
    }));
    expect((await listKeys(client, 'ci')).map(({ AccessKeyId }) => AccessKeyId)).toEqual(['AK1', 'AK2']);
    expect(sent.map(({ parameters }) => parameters['Marker'])).toEqual([undefined, 'next']);
  });

  it('is the text of each policy, which is encoded on its way', async () => {
    const text = '{"Version":"2012-10-17","Statement":[{"Resource":"a%20&<ü*"}]}';
    const { client } = answering<never>((({ name }: { name: string }) =>
      name === 'ListUserPolicies'
        ? { content: policyNames, value: { IsTruncated: false, Marker: undefined, items: ['access'] } }
        : {
            content: inlinePolicy('UserName'),
            value: { name: 'ci', PolicyName: 'access', PolicyDocument: encodeURIComponent(text) },
          }) as never);
    expect(await listInline(client, 'ci')).toEqual([{ name: 'access', text }]);
  });

  it('is a new key with its secret', async () => {
    const AccessKey = {
      UserName: 'ci',
      AccessKeyId: 'AK1',
      Status: 'Active',
      SecretAccessKey: 's/+=',
      CreateDate: created,
    };
    const { client } = answering(() => ({ content: newKey, value: { AccessKey } }));
    expect(await createKey(client, 'ci')).toEqual(AccessKey);
  });

  it('is when a key was last used, if that is known', async () => {
    const used = { LastUsedDate: created, ServiceName: 's3', Region: 'eu-north-1' };
    const unused = { ServiceName: 'N/A', Region: 'N/A' };
    const { client, sent } = answering(({ parameters }) => ({
      content: lastUse,
      value: { UserName: 'ci', AccessKeyLastUsed: parameters['AccessKeyId'] === 'AK1' ? used : unused },
    }));
    expect(await lastUseOf(client, 'AK1')).toEqual({ at: created, service: 's3', region: 'eu-north-1' });
    expect(await lastUseOf(client, 'AK2')).toBeUndefined();
    expect(sent[0]).toEqual({ name: 'GetAccessKeyLastUsed', parameters: { AccessKeyId: 'AK1' } });
  });

  it('that refuses names the right that is missing', () => {
    const message = `User: ${arn} is not authorized to perform: iam:ListUsers on resource: *, because no policy of the caller allows it`;
    const error = { code: 'AccessDenied', message, isOfClient: true };
    const xml = actionError(error, { requestId: 'REQUEST', xmlNamespace: apis.iam.xmlNamespace });
    const failure = failureOf(403, xml, 'REQUEST');
    expect(failure).toMatchObject({ status: 403, code: 'AccessDenied', message, missingRight: 'iam:ListUsers' });
    expect(failureOf(403, '', '').missingRight).toBe('');
  });
});

describe('an action of IAM', () => {
  const question = {
    name: 'SimulatePrincipalPolicy',
    parameters: {
      ActionNames: ['s3:GetObject', 's3:PutObject'],
      ContextEntries: [{ ContextKeyName: 's3:prefix', ContextKeyValues: ['a b&c'] }],
      Marker: undefined,
    },
  };

  it('is the form that the service reads', () => {
    const form = ActionForm.parse(new TextEncoder().encode(formOf(question)));
    expect(form.get('Action')).toBe('SimulatePrincipalPolicy');
    expect(form.get('Version')).toBe('2010-05-08');
    expect(form.get('ActionNames.member.2')).toBe('s3:PutObject');
    expect(form.get('ContextEntries.member.1.ContextKeyValues.member.1')).toBe('a b&c');
    expect(form.has('Marker')).toBe(false);
  });

  it('is a command of the AWS CLI, and one of curl', () => {
    const aws = 'aws --endpoint-url http://127.0.0.1:9000 iam';
    expect(iamCommand(target, changes.setKey('ci', 'AK1', 'Inactive'))).toBe(
      `${aws} update-access-key --user-name ci --access-key-id AK1 --status Inactive`,
    );
    expect(iamCommand(target, changes.putPolicy('ci', { name: 'access', text: '{\n  "Statement": []\n}' }))).toBe(
      `${aws} put-user-policy --user-name ci --policy-name access --policy-document '{"Statement":[]}'`,
    );
    expect(iamCommand(target, question)).toBe(
      `${aws} simulate-principal-policy --action-names s3:GetObject s3:PutObject --context-entries '{"ContextKeyName":"s3:prefix","ContextKeyValues":["a b&c"]}'`,
    );
    expect(curlCommand(target, { method: 'POST', action: changes.createUser('ci') })).toBe(
      `curl -X POST --path-as-is --aws-sigv4 aws:amz:eu-north-1:iam --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" --data-binary 'Action=CreateUser&Version=2010-05-08&UserName=ci' http://127.0.0.1:9000/`,
    );
  });
});
