import { GetSessionTokenCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4, type FormField } from '../support/clients/form.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import type { Key } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html#UsingTemporarySecurityCredentials */

const service = serviceUnderTest();
const name = 'x-amz-security-token';

interface Temporary extends Key {
  readonly sessionToken: string;
}

async function sessionOf(key: Key): Promise<Temporary> {
  const client = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...key } });
  const { Credentials: made } = await client.send(new GetSessionTokenCommand({}));
  return {
    accessKeyId: made!.AccessKeyId!,
    secretAccessKey: made!.SecretAccessKey!,
    sessionToken: made!.SessionToken!,
  };
}

let mine: Temporary;
let another: Temporary;
let strangers: Temporary;
beforeAll(async () => {
  mine = await sessionOf(service.alice);
  another = await sessionOf(service.alice);
  strangers = await sessionOf(service.bob);
});

const list = (key: Key, token?: string): Promise<RawResponse> =>
  service.send({ path: '/', ...(token !== undefined && { headers: { [name]: token } }) }, { key });

describe('a session token in a header', () => {
  it('goes with the key that it was made with', async () => {
    expect((await list(mine, mine.sessionToken)).status).toBe(200);
    expectError(await list(mine), 403, 'InvalidAccessKeyId');
    for (const [key, token] of [
      [mine, another.sessionToken],
      [mine, strangers.sessionToken],
      [service.alice, mine.sessionToken],
      [{ ...mine, accessKeyId: service.alice.accessKeyId }, mine.sessionToken],
      [mine, ''],
    ] as const) {
      expectError(await list(key, token), 400, 'InvalidToken');
    }
    expectError(
      await list({ ...mine, secretAccessKey: another.secretAccessKey }, mine.sessionToken),
      403,
      'SignatureDoesNotMatch',
    );
    expectError(
      await list({ ...mine, secretAccessKey: service.alice.secretAccessKey }, mine.sessionToken),
      403,
      'SignatureDoesNotMatch',
    );
  });

  it('is taken as a whole, as it was made', async () => {
    const token = mine.sessionToken;
    const flipped = token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61);
    for (const other of [
      flipped,
      token.slice(0, -4),
      `${token}AAAA`,
      `${token}=`,
      `${token}.`,
      token + token,
      'x'.repeat(5000),
    ]) {
      expectError(await list(mine, other), 400, 'InvalidToken');
    }
  });

  it('does not show the secret, nor is it shown in an error', async () => {
    const bytes = Buffer.from(mine.sessionToken, 'base64url').toString('latin1');
    expect(bytes).not.toContain(mine.secretAccessKey);
    expect(bytes).not.toContain(service.alice.accessKeyId);
    const refused = await list({ ...mine, secretAccessKey: 'guessed' }, mine.sessionToken);
    expectError(refused, 403, 'SignatureDoesNotMatch');
    expect(refused.text).not.toContain(mine.sessionToken);
  });

  it('is signed', async () => {
    const headers = { [name]: mine.sessionToken };
    expectError(await service.send({ path: '/', headers }, { key: mine, unsigned: [name] }), 403, 'AccessDenied');
  });

  it('is not in the query as well, or instead', async () => {
    const query = `X-Amz-Security-Token=${mine.sessionToken}`;
    const headers = { [name]: mine.sessionToken };
    expectError(await service.send({ path: '/', query }, { key: mine }), 400, 'InvalidToken');
    expectError(await service.send({ path: '/', query, headers }, { key: mine }), 400, 'InvalidToken');
  });
});

describe('a session token in a presigned URL', () => {
  const get = (key: Key, parameters: Record<string, string>, headers = {}): Promise<RawResponse> =>
    service.sendPresigned({ path: '/', headers }, { key, parameters });

  it('is among the parameters', async () => {
    expect((await get(mine, { 'X-Amz-Security-Token': mine.sessionToken })).status).toBe(200);
    expectError(await get(mine, {}), 403, 'InvalidAccessKeyId');
    expectError(await get(mine, { 'X-Amz-Security-Token': another.sessionToken }), 400, 'InvalidToken');
    expectError(await get(service.alice, { 'X-Amz-Security-Token': mine.sessionToken }), 400, 'InvalidToken');
    expectError(await get(mine, {}, { [name]: mine.sessionToken }), 400, 'InvalidToken');
  });
});

describe('a session token in a form', () => {
  const post = async (bucket: string, key: Key, token: string, isCovered = true): Promise<RawResponse> => {
    const conditions = [{ bucket }, { key: 'k' }, ...(isCovered ? [{ [name]: token }] : [])];
    const fields: FormField[] = [['key', 'k'], [name, token], ...signedV4(key, conditions)];
    const body = formBody(fields, { content: 'content' });
    return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType }, body });
  };

  it('is a field that the policy covers', async () => {
    const bucket = await service.bucket();
    expect((await post(bucket, mine, mine.sessionToken)).status).toBe(204);
    expectError(await post(bucket, mine, mine.sessionToken, false), 403, 'AccessDenied');
    expectError(await post(bucket, mine, another.sessionToken), 400, 'InvalidToken');
    expectError(await post(bucket, service.alice, mine.sessionToken), 400, 'InvalidToken');
  });
});

describe('Sts, an API other than S3', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const ask = (body: string, signing: object = {}, headers: Record<string, string> = {}): Promise<RawResponse> =>
    service.send({ method: 'POST', path: '/', headers: { ...form, ...headers }, body, service: 'sts' }, signing);
  const identity = 'Action=GetCallerIdentity&Version=2011-06-15';
  const error = ({ status, text }: RawResponse) => [status, textOf(text, 'Code')];

  it('answers in its own words', async () => {
    const response = await ask(identity);
    const requestId = response.header('x-amz-request-id')!;
    expect(response.text).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<GetCallerIdentityResponse xmlns="https:\/\/sts.amazonaws.com\/doc\/2011-06-15\/"><GetCallerIdentityResult><Arn>/,
    );
    expect(response.text).toContain(`<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`);
    const refused = await ask('Action=Nothing&Version=2011-06-15');
    expect(refused.status).toBe(400);
    expect(refused.text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>' +
        '<Code>InvalidAction</Code><Message>Could not find operation Nothing for version 2011-06-15</Message></Error>' +
        `<RequestId>${refused.header('x-amz-request-id')}</RequestId></ErrorResponse>`,
    );
  });

  it('needs no hash of the body, which is always signed', async () => {
    expect((await ask(identity, { payloadHash: null })).status).toBe(403);
    const unsignedBody = await ask(identity, { payloadHash: 'UNSIGNED-PAYLOAD' });
    expect(error(unsignedBody)).toEqual([403, 'SignatureDoesNotMatch']);
  });

  it.each([
    ['', 'InvalidAction'],
    ['Action=GetCallerIdentity', 'InvalidAction'],
    ['Action=GetCallerIdentity&Version=2010-05-08', 'InvalidAction'],
    ['Action=constructor&Version=2011-06-15', 'InvalidAction'],
    ['Action=CreateUser&Version=2011-06-15', 'InvalidAction'],
    [`${identity}&Action=GetSessionToken`, 'ValidationError'],
    [`${identity}&%zz=1`, 'ValidationError'],
    [`${identity}&%ff=1`, 'ValidationError'],
    [`${identity}&${'a.'.repeat(200)}=1`, 'ValidationError'],
    [`${identity}${Array.from({ length: 1000 }, (_, at) => `&p${at}=`).join('')}`, 'ValidationError'],
    ['Action=GetSessionToken&Version=2011-06-15&DurationSeconds=1e3', 'ValidationError'],
    ['Action=GetSessionToken&Version=2011-06-15&DurationSeconds=', 'ValidationError'],
  ])('refuses what it does not understand: %#', async (body, code) => {
    expect(error(await ask(body))).toEqual([400, code]);
  });

  it('reads no more than it needs', async () => {
    expect(error(await ask(`${identity}&x=${'x'.repeat(140_000)}`))).toEqual([413, 'RequestEntityTooLarge']);
  });

  it('takes neither an unsigned request, nor what was signed for another', async () => {
    const unsigned = await service.sendUnsigned({ method: 'POST', path: '/', headers: form, body: identity });
    expect(error(unsigned)).toEqual([403, 'MissingAuthenticationToken']);
    expect(error(await ask(identity, { key: mine }))).toEqual([403, 'InvalidClientTokenId']);
    expect(error(await ask(identity, { key: mine }, { [name]: another.sessionToken }))).toEqual([
      403,
      'InvalidClientTokenId',
    ]);
    expect(error(await ask(identity, { time: Date.now() - 3_600_000 }))).toEqual([403, 'SignatureDoesNotMatch']);
    for (const request of [
      { path: '/', method: 'GET' },
      { path: `/${await service.bucket()}`, method: 'GET' },
      { path: '/', method: 'POST', query: 'x=1', headers: form, body: identity },
    ]) {
      const response = await service.send({ ...request, service: 'sts' });
      expect(response.status === 400 || response.status === 405).toBe(true);
    }
  });

  it('leaves POST of S3 as it was', async () => {
    expectError(
      await service.send({ method: 'POST', path: '/', headers: form, body: identity }),
      405,
      'MethodNotAllowed',
    );
    const multipart = { 'content-type': formType };
    expectError(
      await service.sendUnsigned({ method: 'POST', path: '/', headers: multipart, body: identity }),
      405,
      'MethodNotAllowed',
    );
  });
});
