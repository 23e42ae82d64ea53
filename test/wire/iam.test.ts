import { beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { textOf } from '../support/clients/expect-error.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import type { Key } from '../support/clients/signer.ts';
import { makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** The bytes of IAM's Query protocol: https://docs.aws.amazon.com/IAM/latest/UserGuide/programming.html */

const service = serviceUnderTest();
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
const xmlns = 'xmlns="https://iam.amazonaws.com/doc/2010-05-08/"';

describe.runIf(isAdministered)('Iam, an API other than S3', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  let owner: Key;
  beforeAll(async () => {
    owner = await makeKey(service.place, `shop:owner@${bucketName()}`);
  });
  const ask = async (body: string, key?: Key, signing: object = {}): Promise<RawResponse> =>
    service.send(
      { method: 'POST', path: '/', headers, body: `Version=2010-05-08&${body}`, service: 'iam' },
      { key: key ?? owner, ...signing },
    );
  const idOf = (response: RawResponse): string => response.header('x-amz-request-id')!;
  const error = ({ status, text }: RawResponse) => [status, textOf(text, 'Type'), textOf(text, 'Code')];

  it('answers as AWS does', async () => {
    const created = await ask('Action=CreateUser&UserName=ci&Path=%2Fteam%2F');
    const [userId, arn, date] = ['UserId', 'Arn', 'CreateDate'].map((name) => textOf(created.text, name)!);
    expect(arn).toMatch(/^arn:aws:iam::\d{12}:user\/team\/ci$/);
    expect(created.text).toBe(
      `${head}<CreateUserResponse ${xmlns}><CreateUserResult><User><Path>/team/</Path><UserName>ci</UserName>` +
        `<UserId>${userId}</UserId><Arn>${arn}</Arn><CreateDate>${date}</CreateDate></User></CreateUserResult>` +
        `<ResponseMetadata><RequestId>${idOf(created)}</RequestId></ResponseMetadata></CreateUserResponse>`,
    );
    const none = await ask('Action=ListAccountAliases');
    expect(none.text).toMatch(/<AccountAliases ?\/?>(?:<\/AccountAliases>)?<IsTruncated>false<\/IsTruncated>/);
    const deleted = await ask('Action=DeleteUser&UserName=ci');
    expect(deleted.text).toBe(
      `${head}<DeleteUserResponse ${xmlns}><ResponseMetadata><RequestId>${idOf(deleted)}</RequestId>` +
        '</ResponseMetadata></DeleteUserResponse>',
    );
    const again = await ask('Action=DeleteUser&UserName=ci');
    expect(again.status).toBe(404);
    expect(again.text).toBe(
      `${head}<ErrorResponse ${xmlns}><Error><Type>Sender</Type><Code>NoSuchEntity</Code>` +
        '<Message>The user with name ci cannot be found.</Message></Error>' +
        `<RequestId>${idOf(again)}</RequestId></ErrorResponse>`,
    );
  });

  it.each([
    ['Action=Nothing', 400, 'InvalidAction'],
    ['Action=GetCallerIdentity', 400, 'InvalidAction'],
    ['Action=CreateUser', 400, 'ValidationError'],
    ['Action=CreateUser&UserName=', 400, 'ValidationError'],
    ['Action=ListUsers&MaxItems=0', 400, 'ValidationError'],
    ['Action=ListUsers&MaxItems=1001', 400, 'ValidationError'],
    ['Action=CreateUser&UserName=a&PermissionsBoundary=arn:aws:iam::aws:policy/None', 404, 'NoSuchEntity'],
    ['Action=GetUser&UserName=__proto__', 404, 'NoSuchEntity'],
    ['Action=GetUserPolicy&UserName=owner&PolicyName=constructor', 404, 'NoSuchEntity'],
    ['Action=GetPolicy&PolicyArn=arn:aws:iam::aws:policy/', 404, 'NoSuchEntity'],
    ['Action=GetPolicy&PolicyArn=arn:aws:iam::aws:policy/x/FullAccess', 404, 'NoSuchEntity'],
  ])('refuses %s', async (body, status, code) => {
    expect(error(await ask(body))).toEqual([status, 'Sender', code]);
  });

  it('needs a signature for iam, and hashes the body whatever is sent', async () => {
    expect((await ask('Action=ListUsers', undefined, { payloadHash: 'UNSIGNED-PAYLOAD' })).status).toBe(403);
    expect(error(await ask('Action=ListUsers', { accessKeyId: 'AKIAUNKNOWNUNKNOWN00', secretAccessKey: 'x' }))).toEqual(
      [403, 'Sender', 'InvalidClientTokenId'],
    );
    const other = await service.send(
      { method: 'POST', path: '/', headers, body: 'Action=ListUsers&Version=2010-05-08', service: 'sts' },
      { key: owner },
    );
    expect(error(other)).toEqual([400, 'Sender', 'InvalidAction']);
  });
});
