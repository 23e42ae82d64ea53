import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { formBody, formType } from '../support/clients/form.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import type { Unsigned } from '../support/clients/signer.ts';

/** Attempts to bypass a policy: it must hold however a request is sent. */

const service = serviceUnderTest();
const stranger = { key: service.bob };

function send(method: string, path: string, query: string, body?: string): Promise<RawResponse> {
  return service.send({ method, path, query, ...(body !== undefined && { body }) });
}

/** A bucket with an object `key`, one `secret`, and a policy of these statements. */
async function guarded(statements: (bucket: string) => readonly object[], headers = {}): Promise<string> {
  const bucket = await service.bucket();
  for (const key of ['key', 'secret']) await put(service.client, bucket, key, 'content');
  const all = statements(bucket).map((one) => ({
    ...{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` },
    ...one,
  }));
  const body = JSON.stringify({ Version: '2012-10-17', Statement: all });
  const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body, headers });
  expect(answer.status, answer.text).toBe(204);
  return bucket;
}

describe('a Deny', () => {
  it('holds against the case of an action, for the owner too', async () => {
    const bucket = await guarded(() => [{}, { Effect: 'Deny', Action: 'S3:GETOBJECT' }]);
    expectError(await service.send({ path: `/${bucket}/key` }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
  });

  it('ends where its star does', async () => {
    const bucket = await guarded((name) => [{}, { Effect: 'Deny', Resource: `arn:svc:svc:::${name}/sec*` }]);
    expect((await service.sendUnsigned({ path: `/${bucket}/key` })).text).toBe('content');
    expectError(await service.sendUnsigned({ path: `/${bucket}/secret` }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path: `/${bucket}/%73ecret` }), 403, 'AccessDenied');
  });

  it('of all but one kind of client holds for each value by itself', async () => {
    const bucket = await guarded(() => [
      {},
      { Effect: 'Deny', Condition: { 'ForAnyValue:StringNotEquals': { 'aws:UserAgent': ['good', 'fine'] } } },
    ]);
    const as = (agent: string): Promise<RawResponse> =>
      service.sendUnsigned({ path: `/${bucket}/key`, headers: { 'user-agent': agent } });
    expect((await as('good')).status).toBe(200);
    expectError(await as('bad'), 403, 'AccessDenied');
    expectError(await as('good,bad'), 403, 'AccessDenied');
  });
});

describe('an Allow', () => {
  it('of objects is none of the bucket, nor the other way round', async () => {
    const objects = await guarded(() => [{ Action: 's3:*' }]);
    expect((await service.sendUnsigned({ path: `/${objects}/key` })).status).toBe(200);
    expectError(await service.sendUnsigned({ path: `/${objects}` }), 403, 'AccessDenied');
    const itself = await guarded((name) => [{ Action: 's3:*', Resource: `arn:aws:s3:::${name}` }]);
    expect((await service.sendUnsigned({ path: `/${itself}` })).status).toBe(200);
    expectError(await service.sendUnsigned({ path: `/${itself}/key` }), 403, 'AccessDenied');
  });

  it('of GetObject is none of a version', async () => {
    const bucket = await guarded(() => [{}]);
    expect((await service.sendUnsigned({ path: `/${bucket}/key` })).status).toBe(200);
    expectError(await service.sendUnsigned({ path: `/${bucket}/key`, query: 'versionId=null' }), 403, 'AccessDenied');
  });

  it('for a project is for that project only', async () => {
    const bucket = await guarded(() => [{ Principal: { AWS: `arn:aws:iam::${accounts[1].id}:user/bob` } }]);
    expect((await service.send({ path: `/${bucket}/key` }, stranger)).text).toBe('content');
    expectError(await service.sendUnsigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
  });

  it('of some deletions allows those, one by one', async () => {
    const bucket = await guarded((name) => [{ Action: 's3:DeleteObject', Resource: `arn:aws:s3:::${name}/key` }]);
    const body = '<Delete><Object><Key>key</Key></Object><Object><Key>secret</Key></Object></Delete>';
    const answer = await service.sendUnsigned({ method: 'POST', path: `/${bucket}`, query: 'delete', body });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain('<Deleted><Key>key</Key>');
    expect(answer.text).toContain('<Error><Key>secret</Key><Code>AccessDenied</Code>');
    expect((await service.send({ path: `/${bucket}/secret` })).status).toBe(200);
  });

  it('to read is none to copy the tags along', async () => {
    const bucket = await guarded(() => [{ Action: ['s3:GetObject', 's3:PutObject'] }]);
    const copy = (headers: Record<string, string> = {}): Promise<RawResponse> =>
      service.send(
        { method: 'PUT', path: `/${bucket}/copy`, headers: { 'x-amz-copy-source': `${bucket}/key`, ...headers } },
        stranger,
      );
    expect((await copy()).status).toBe(200);
    const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
    expect((await send('PUT', `/${bucket}/key`, 'tagging', tagging)).status).toBe(200);
    expectError(await copy(), 403, 'AccessDenied');
    expect((await copy({ 'x-amz-tagging-directive': 'REPLACE' })).status).toBe(200);
  });
});

describe('a condition', () => {
  it('knows what the service knows, and not what a header of its name says', async () => {
    const proto = service.ownUrl.startsWith('https:') ? 'http' : 'https';
    const securetransport = String(proto === 'https');
    const bucket = await guarded(() => [
      { Condition: { IpAddress: { 'aws:SourceIp': '203.0.113.7' } } },
      { Condition: { StringEquals: { 'aws:username': 'alice' } } },
      { Condition: { Bool: { 'aws:SecureTransport': securetransport } } },
    ]);
    const headers = {
      'x-forwarded-for': '203.0.113.7',
      'x-real-ip': '203.0.113.7',
      'x-forwarded-proto': proto,
      forwarded: `for=203.0.113.7;proto=${proto}`,
      sourceip: '203.0.113.7',
      username: 'alice',
      securetransport,
    };
    expectError(await service.sendUnsigned({ path: `/${bucket}/key`, headers }), 403, 'AccessDenied');
    const query = 'aws:sourceip=203.0.113.7&aws:username=alice&username=alice';
    expectError(await service.sendUnsigned({ path: `/${bucket}/key`, query }), 403, 'AccessDenied');
    expectError(await service.send({ path: `/${bucket}/key`, headers }, stranger), 403, 'AccessDenied');
  });

  it('on a listing is of its parameters', async () => {
    const bucket = await guarded((name) => [
      {
        ...{ Action: 's3:ListBucket', Resource: `arn:aws:s3:::${name}` },
        Condition: { StringLike: { 's3:prefix': 'home/*' } },
      },
    ]);
    expect((await service.sendUnsigned({ path: `/${bucket}`, query: 'prefix=home/x' })).status).toBe(200);
    expectError(await service.sendUnsigned({ path: `/${bucket}`, query: 'prefix=' }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path: `/${bucket}` }), 403, 'AccessDenied');
  });
});

describe('owners who lock themselves out', () => {
  const lock = (name: string): readonly object[] => [
    { Effect: 'Deny', Action: 's3:*', Resource: [`arn:aws:s3:::${name}`, `arn:aws:s3:::${name}/*`] },
  ];

  it('can still read and remove the policy', async () => {
    const bucket = await guarded(lock);
    expectError(await service.send({ path: `/${bucket}` }), 403, 'AccessDenied');
    expect((await send('GET', `/${bucket}`, 'policy')).status).toBe(200);
    expectError(await service.send({ path: `/${bucket}`, query: 'policy' }, stranger), 403, 'AccessDenied');
    expect((await send('DELETE', `/${bucket}`, 'policy')).status).toBe(204);
    expect((await service.send({ path: `/${bucket}` })).status).toBe(200);
  });

  it('cannot, if they have confirmed it', async (context) => {
    if (!takesSettings) context.skip('nobody could ever remove the bucket');
    const bucket = await service.temporaryBucket();
    const body = JSON.stringify({ Statement: lock(bucket.name).map((one) => ({ ...one, Principal: '*' })) });
    const headers = { 'x-amz-confirm-remove-self-bucket-access': 'true' };
    const answer = await service.send({ method: 'PUT', path: `/${bucket.name}`, query: 'policy', body, headers });
    expect(answer.status, answer.text).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expectError(await send(method, `/${bucket.name}`, 'policy'), 403, 'AccessDenied');
    }
    expectError(await send('PUT', `/${bucket.name}`, 'policy', body), 403, 'AccessDenied');
  });

  it('is not the owner’s doing, if another project that may set the policy has confirmed it', async () => {
    const bucket = await service.bucket();
    const grant = { 'x-amz-grant-full-control': `id="${accounts[1].id}"` };
    const granted = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', headers: grant });
    expect(granted.status, granted.text).toBe(200);
    const body = JSON.stringify({ Statement: lock(bucket).map((one) => ({ ...one, Principal: '*' })) });
    const headers = { 'x-amz-confirm-remove-self-bucket-access': 'true' };
    const set = { method: 'PUT', path: `/${bucket}`, query: 'policy', body, headers };
    const answer = await service.send(set, stranger);
    expect(answer.status, answer.text).toBe(204);
    expectError(await service.send({ path: `/${bucket}` }), 403, 'AccessDenied');
    expect((await send('GET', `/${bucket}`, 'policy')).text).toBe(body);
    expect((await send('DELETE', `/${bucket}`, 'policy')).status).toBe(204);
  });
});

describe('the right to list', () => {
  const prefixed = (bucket: string, prefix: string, others: readonly object[] = []): readonly object[] => [
    { Action: ['s3:GetObject', 's3:GetObjectVersion'] },
    {
      ...{ Action: 's3:ListBucket', Resource: `arn:aws:s3:::${bucket}` },
      Condition: { StringLike: { 's3:prefix': prefix } },
    },
    ...others,
  ];
  const isMissing = async (bucket: string, key: string, query?: string): Promise<number[]> => {
    const request = { path: `/${bucket}/${key}`, ...(query !== undefined && { query }) };
    const answers = [
      await service.sendUnsigned(request),
      await service.sendUnsigned({ ...request, method: 'HEAD' }),
      await service.send({ ...request, method: 'HEAD' }, stranger),
    ];
    return [...new Set(answers.map(({ status }) => status))];
  };

  it('tells of the keys under its prefix, and of no others, which are missing', async () => {
    const bucket = await guarded((name) => prefixed(name, 'public/*'));
    expect(await isMissing(bucket, 'public/none')).toEqual([404]);
    expect(await isMissing(bucket, 'public/none', 'versionId=null')).toEqual([404]);
    expect(await isMissing(bucket, 'private/none')).toEqual([403]);
    // The parameter `prefix` has no meaning in a GET of an object.
    expect(await isMissing(bucket, 'private/none', 'prefix=public/x')).toEqual([403]);
  });

  it('that is denied under a prefix tells of all other keys', async () => {
    const bucket = await guarded((name) => [
      { Action: ['s3:GetObject', 's3:ListBucket'], Resource: [`arn:aws:s3:::${name}`, `arn:aws:s3:::${name}/*`] },
      {
        ...{ Effect: 'Deny', Action: 's3:ListBucket', Resource: `arn:aws:s3:::${name}` },
        Condition: { StringLike: { 's3:prefix': 'private/*' } },
      },
    ]);
    expect(await isMissing(bucket, 'public/none')).toEqual([404]);
    expect(await isMissing(bucket, 'private/none')).toEqual([403]);
  });
});

describe('what a request says of encryption', () => {
  const customer = 'x-amz-server-side-encryption-customer-';
  /** Invalid values, and the errors for them if the request is allowed. */
  const wrong = [
    [{ 'x-amz-server-side-encryption': 'ROT13' }, 400, 'InvalidArgument'],
    [{ 'x-amz-server-side-encryption': 'aws:kms' }, 501, 'NotImplemented'],
    [
      {
        ...{ 'x-amz-server-side-encryption': 'aws:kms' },
        'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:us-east-1:1:key/1',
      },
      501,
      'NotImplemented',
    ],
    [{ [`${customer}algorithm`]: 'AES128' }, 400, 'InvalidEncryptionAlgorithmError'],
    [{ [`${customer}algorithm`]: 'AES256' }, 400, 'InvalidArgument'],
  ] as const;
  const denied = (bucket: string): readonly object[] => [
    { Action: ['s3:GetObject', 's3:PutObject', 's3:GetObjectAttributes'] },
    ...['', '-customer-algorithm'].map((which) => ({
      ...{ Effect: 'Deny', Action: ['s3:PutObject', 's3:GetObject'], Resource: `arn:aws:s3:::${bucket}/denied*` },
      Condition: { Null: { [`s3:x-amz-server-side-encryption${which}`]: 'false' } },
    })),
  ];
  const source = (bucket: string): Record<string, string> => ({ 'x-amz-copy-source': `${bucket}/key` });

  const uploads: readonly (readonly [string, (bucket: string, key: string) => Unsigned])[] = [
    ['PutObject', (bucket, key) => ({ method: 'PUT', path: `/${bucket}/${key}`, body: 'x' })],
    ['CopyObject', (bucket, key) => ({ method: 'PUT', path: `/${bucket}/${key}`, headers: source(bucket) })],
    ['CreateMultipartUpload', (bucket, key) => ({ method: 'POST', path: `/${bucket}/${key}`, query: 'uploads' })],
  ];
  it.each(uploads)('is judged by policies before it is by %s', async (_, request) => {
    const bucket = await guarded(denied);
    for (const [headers, status, code] of wrong) {
      const [no, yes] = ['denied', 'allowed'].map((key) => request(bucket, key));
      const sent = (one: Unsigned): Promise<RawResponse> =>
        service.send({ ...one, headers: { ...one.headers, ...headers } }, stranger);
      expectError(await sent(no!), 403, 'AccessDenied');
      expectError(await sent(yes!), status, code);
    }
  });

  it('is judged by policies before it is by the upload of a form', async () => {
    const bucket = await guarded(denied);
    for (const [headers, status, code] of wrong) {
      const sent = (key: string): Promise<RawResponse> => {
        const fields = Object.entries({ key, ...headers }).map(([name, value]) => [name, value] as const);
        const body = formBody(fields, { content: 'content' });
        const type = { 'content-type': formType };
        return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, body, headers: type });
      };
      expectError(await sent('denied'), 403, 'AccessDenied');
      expectError(await sent('allowed'), status, code);
    }
  });

  const reads: readonly (readonly [string, Partial<Unsigned>])[] = [
    ['GetObject', {}],
    ['GetObjectAttributes', { query: 'attributes', headers: { 'x-amz-object-attributes': 'ETag' } }],
  ];
  it.each(reads)('is judged by policies before it is by %s', async (_, more) => {
    const bucket = await guarded(denied);
    await put(service.client, bucket, 'denied', 'content');
    for (const [headers, status, code] of wrong.filter(([one]) => `${customer}algorithm` in one)) {
      const sent = (key: string): Promise<RawResponse> =>
        service.send({ path: `/${bucket}/${key}`, ...more, headers: { ...more.headers, ...headers } }, stranger);
      expectError(await sent('denied'), 403, 'AccessDenied');
      expectError(await sent('key'), status, code);
    }
  });

  it('is judged by policies before it is by UploadPart and UploadPartCopy', async () => {
    const bucket = await guarded((name) => [
      { Action: ['s3:PutObject', 's3:GetObject'] },
      {
        ...{ Effect: 'Deny', Action: 's3:PutObject', Resource: `arn:aws:s3:::${name}/*` },
        Condition: { StringEquals: { 'aws:UserAgent': 'denied' } },
      },
    ]);
    const begun = await service.send({ method: 'POST', path: `/${bucket}/key`, query: 'uploads' }, stranger);
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.text)![1]!;
    for (const part of [{ body: 'x' }, { headers: source(bucket) }]) {
      const sent = (agent: string): Promise<RawResponse> => {
        const headers = { ...part.headers, [`${customer}algorithm`]: 'AES128', 'user-agent': agent };
        const query = `partNumber=1&uploadId=${uploadId}`;
        return service.send({ method: 'PUT', path: `/${bucket}/key`, query, ...part, headers }, stranger);
      };
      expectError(await sent('denied'), 403, 'AccessDenied');
      expectError(await sent('allowed'), 400, 'InvalidEncryptionAlgorithmError');
    }
  });
});
