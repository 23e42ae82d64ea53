import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { describe, expect, it } from 'vitest';
import { policyDocument } from '../../../../shared/protocol/authorisation/bucket-policy.ts';
import { person, PipelineInProcess, type Answered, type Person } from '../../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../../support/clients/signer.ts';

const owner = person('owner');
const colleague = person('colleague', 'owner');
const friend = person('friend');
const stranger = person('stranger');

async function started(): Promise<PipelineInProcess> {
  const service = new PipelineInProcess([owner, colleague, friend, stranger]);
  await done(service, { method: 'PUT', path: '/bucket' });
  return service;
}

/** Sends a request that must succeed, by default as the owner. */
async function done(service: PipelineInProcess, request: Unsigned, by: Person | undefined = owner): Promise<Answered> {
  const answer = await service.send(request, by);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
}

const open = { headers: { 'x-amz-acl': 'public-read' } };
const putKey = (body: string, more: Partial<Unsigned> = {}): Unsigned => ({
  ...{ method: 'PUT', path: '/bucket/key', body },
  ...more,
});

async function setPolicy(service: PipelineInProcess, ...statements: readonly Record<string, unknown>[]): Promise<void> {
  const Statement = statements.map((statement) => ({ Effect: 'Allow', Principal: '*', ...statement }));
  const text = JSON.stringify({ Version: '2012-10-17', Statement });
  return service.services.buckets.documents.set(
    asService(await service.services.buckets.load('bucket')),
    'policy',
    policyDocument(text, new Map(), false),
  );
}

const objects = 'arn:aws:s3:::bucket/*';
const whole = ['arn:aws:s3:::bucket', objects];

describe('authorisation reads', () => {
  it('nothing but the bucket for its owner', async () => {
    const service = await started();
    await done(service, putKey('content'));
    const readsOf = async (request: Unsigned, by?: Person): Promise<number> => {
      const before = service.table.calls.get + service.table.calls.getTogether;
      await done(service, request, by);
      return service.table.calls.get + service.table.calls.getTogether - before;
    };
    // The bucket, and the current version of the object.
    expect(await readsOf({ path: '/bucket/key' })).toBe(2);
    expect(await readsOf({ method: 'HEAD', path: '/bucket/key' }, colleague)).toBe(2);
    // The bucket alone.
    expect(await readsOf({ method: 'DELETE', path: '/bucket/key' })).toBe(1);
  });

  it('an object once, for its ACL and for its content', async () => {
    const service = await started();
    await done(service, putKey('content', open));
    const before = service.table.calls.get;
    expect((await service.send({ path: '/bucket/key' }, undefined)).text).toBe('content');
    expect(service.table.calls.get - before).toBe(2);
  });

  it('no tags unless a policy asks for them', async () => {
    const service = await started();
    await done(service, putKey('content', { headers: { 'x-amz-tagging': 'team=red' } }));
    const condition = (team: string) => ({ StringEquals: { 's3:ExistingObjectTag/team': team } });
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects, Condition: condition('red') });
    expect((await service.send({ path: '/bucket/key' }, stranger)).text).toBe('content');
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects, Condition: condition('blue') });
    expect((await service.send({ path: '/bucket/key' }, stranger)).status).toBe(403);
  });
});

describe('the policy of a bucket', () => {
  it('holds up nobody, whatever it and a request for a thousand keys are written to take', async () => {
    const service = await started();
    const patterns = ['X', 'Y', 'Z'].map((end) => `*${'a?'.repeat(2_900)}${end}*`);
    const Condition = { StringLike: { 'aws:UserAgent': patterns } };
    await setPolicy(
      service,
      { Action: 's3:DeleteObject', Resource: objects, Condition },
      { Effect: 'Deny', Action: 's3:DeleteObject', Resource: [`${objects}a?b*`, `${objects}a?c`] },
    );
    const keys = Array.from({ length: 1000 }, (_, at) => `<Object><Key>${at}${'a'.repeat(900)}</Key></Object>`);
    const headers = { 'user-agent': 'a'.repeat(6_000) };
    const request = {
      method: 'POST',
      path: '/bucket',
      query: 'delete',
      headers,
      body: `<Delete>${keys.join('')}</Delete>`,
    };
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const answer = await service.send(request, stranger);
    isOver = true;
    expect(answer.text.match(/<Code>AccessDenied</g)).toHaveLength(1000);
    expect(turns).toBeGreaterThan(20);
  });
});

describe('what was judged is what is served', () => {
  /** Runs something between authorisation's look at the object and the rest of the request. */
  function afterCurrentVersionIsRead(service: PipelineInProcess, act: () => Promise<unknown>): void {
    service.table.afterRead = async (key) => {
      if (!key.pk.startsWith('head/')) return;
      service.table.afterRead = async () => undefined;
      await act();
    };
  }

  const replaced = (service: PipelineInProcess) => () => done(service, putKey('secret'));

  it.each([
    ['GetObject', { path: '/bucket/key' }, 'open'],
    ['GetObjectTagging', { path: '/bucket/key', query: 'tagging' }, '<TagSet/>'],
    ['GetObject, of the null version', { path: '/bucket/key', query: 'versionId=null' }, 'open'],
  ] as const)('by %s, though a private object takes its place', async (_, request, expected) => {
    const service = await started();
    await done(service, putKey('open', open));
    afterCurrentVersionIsRead(service, () =>
      done(service, putKey('secret', { headers: { 'x-amz-tagging': 'secret=tag' } })),
    );
    const answer = await service.send(request, undefined);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(expected);
    expect(answer.text).not.toContain('secret');
    expect((await service.send(request, undefined)).status).toBe(403);
  });

  it('by a copy, which does not begin again without asking again', async () => {
    const service = await started();
    await done(service, { method: 'PUT', path: '/theirs' }, stranger);
    await done(service, putKey('open', open));
    afterCurrentVersionIsRead(service, replaced(service));
    const copy = { method: 'PUT', path: '/theirs/copy', headers: { 'x-amz-copy-source': '/bucket/key' } };
    const answer = await service.send(copy, stranger);
    expect(answer.code).toBe('AccessDenied');
    expect((await service.send({ path: '/theirs/copy' }, stranger)).status).toBe(404);
  });

  it('by a change: a right to one object is none to the next', async () => {
    const service = await started();
    await done(service, putKey('open', { headers: { 'x-amz-grant-write-acp': 'id="stranger-id"' } }));
    afterCurrentVersionIsRead(service, replaced(service));
    const request = { method: 'PUT', path: '/bucket/key', query: 'acl', ...open };
    expect((await service.send(request, stranger)).code).toBe('AccessDenied');
    expect((await service.send({ path: '/bucket/key' }, undefined)).status).toBe(403);
  });
});

describe('what may not be seen', () => {
  const ways: readonly Partial<Unsigned>[] = [
    {},
    { method: 'HEAD' },
    { query: 'versionId=null' },
    { query: 'partNumber=1' },
    { query: 'tagging' },
    { query: 'acl' },
    { query: 'attributes', headers: { 'x-amz-object-attributes': 'ETag' } },
    { headers: { range: 'bytes=0-0' } },
    { headers: { range: 'bytes=999-' } },
    { headers: { 'if-none-match': '"9a0364b9e99bb480dd25e1f0284c8555"' } },
    { headers: { 'if-match': '"nothing"' } },
    { headers: { 'if-modified-since': new Date(Date.now() + 1000).toUTCString() } },
    { headers: { 'if-unmodified-since': new Date(0).toUTCString() } },
    { headers: { 'x-amz-checksum-mode': 'ENABLED' } },
    { method: 'PUT', query: 'acl', headers: { 'x-amz-acl': 'public-read' } },
    { method: 'PUT', query: 'tagging', body: '<Tagging><TagSet/></Tagging>' },
    { method: 'DELETE', query: 'tagging' },
    { method: 'DELETE', query: 'versionId=null' },
    { method: 'DELETE' },
    { method: 'DELETE', headers: { 'if-match': '"nothing"' } },
    { method: 'PUT', body: 'x', headers: { 'if-none-match': '*' } },
    { method: 'PUT', body: 'x', headers: { 'if-match': '*' } },
  ];

  /** Returns the parts of a response that do not vary between requests. */
  const seen = ({ status, text, header }: Answered): unknown => ({
    status,
    text: text.replace(/<RequestId>.*?<\/RequestId>/, '').replaceAll(/stored|deleted|missing|marked/g, 'key'),
    fields: ['etag', 'last-modified', 'x-amz-version-id', 'x-amz-delete-marker', 'allow', 'content-range'].map(header),
  });

  it.each([
    ['nobody', undefined],
    ['a stranger', stranger],
  ])('looks to %s like what is not there, however it is asked for', async (_, by) => {
    const service = await started();
    await done(service, { ...putKey('content'), path: '/bucket/stored' });
    for (const way of ways) {
      const answers = await Promise.all(
        ['stored', 'missing'].map((key) => service.send({ path: `/bucket/${key}`, ...way }, by)),
      );
      expect(seen(answers[0]!), JSON.stringify(way)).toEqual(seen(answers[1]!));
      expect(answers[0]!.status, JSON.stringify(way)).toBe(403);
    }
  });

  it('is a delete marker, too, and every version of it', async () => {
    const service = await started();
    const status = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    await done(service, { method: 'PUT', path: '/bucket', query: 'versioning', body: status });
    const stored = await done(service, { ...putKey('content'), path: '/bucket/stored' });
    await done(service, { ...putKey('content'), path: '/bucket/marked' });
    const marker = await done(service, { method: 'DELETE', path: '/bucket/marked' });
    const [one, two] = [stored, marker].map(({ header }) => `versionId=${header('x-amz-version-id')!}`);
    const asked = [
      { path: '/bucket/missing' },
      { path: '/bucket/marked' },
      { path: '/bucket/marked', query: two! },
      { path: '/bucket/stored', query: one! },
      { path: '/bucket/missing', query: one! },
    ];
    for (const method of ['GET', 'HEAD']) {
      const answers = await Promise.all(asked.map((request) => service.send({ method, ...request }, undefined)));
      expect(new Set(answers.map((answer) => JSON.stringify(seen(answer)))).size).toBe(1);
      expect(answers[0]!.status).toBe(403);
    }
    // With permission to list, missing and deleted objects are reported as such.
    await done(service, { method: 'PUT', path: '/bucket', query: 'acl', ...open });
    const answers = await Promise.all(asked.map((request) => service.send(request, undefined)));
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 405, 403, 404]);
  });

  it('is what a policy lets be read, but not be listed', async () => {
    const service = await started();
    await done(service, putKey('content'));
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects });
    expect((await service.send({ path: '/bucket/key' }, stranger)).status).toBe(200);
    expect((await service.send({ path: '/bucket/missing' }, stranger)).code).toBe('AccessDenied');
    await setPolicy(service, { Action: ['s3:GetObject', 's3:ListBucket'], Resource: whole });
    expect((await service.send({ path: '/bucket/missing' }, stranger)).code).toBe('NoSuchKey');
    // A GET has no parameters of a listing, so conditions on them are not met.
    await setPolicy(
      service,
      { Action: 's3:GetObject', Resource: objects },
      { Action: 's3:ListBucket', Resource: whole, Condition: { StringEquals: { 's3:prefix': 'open/' } } },
    );
    expect((await service.send({ path: '/bucket/missing', query: 'prefix=open%2F' }, stranger)).code).toBe(
      'AccessDenied',
    );
    expect((await service.send({ path: '/bucket', query: 'prefix=open%2F' }, stranger)).status).toBe(200);
    expect((await service.send({ path: '/bucket', query: 'prefix=other%2F' }, stranger)).code).toBe('AccessDenied');
  });
});

describe('a policy', () => {
  it('that lets objects be read lets no versions of them be read', async () => {
    const service = await started();
    await done(service, putKey('content'));
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects });
    for (const query of ['versionId=null', 'acl', 'tagging', 'tagging&versionId=null', 'acl&versionId=null']) {
      expect((await service.send({ path: '/bucket/key', query }, stranger)).code, query).toBe('AccessDenied');
    }
    expect((await service.send({ path: '/bucket', query: 'versions' }, stranger)).code).toBe('AccessDenied');
  });

  it('is asked for each key of a DeleteObjects', async () => {
    const service = await started();
    for (const key of ['tmp/a', 'kept/a']) await done(service, { ...putKey('content'), path: `/bucket/${key}` });
    await setPolicy(service, { Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::bucket/tmp/*' });
    const keys = ['tmp/a', 'kept/a', 'tmp/none'];
    const body = (of: readonly string[]): string =>
      `<Delete>${of.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
    const request = { method: 'POST', path: '/bucket', query: 'delete' };
    for (const by of [stranger, undefined]) {
      const { status, text } = await service.send({ ...request, body: body(keys) }, by);
      expect(status).toBe(200);
      expect(text).toMatch(
        /<Deleted><Key>tmp\/a<\/Key><\/Deleted><Error><Key>kept\/a<\/Key><Code>AccessDenied<\/Code>.*<Deleted><Key>tmp\/none</,
      );
    }
    expect((await service.send({ ...request, body: body(['kept/a']) }, stranger)).status).toBe(200);
    expect((await service.send({ ...request, body: body(['kept/a']) }, undefined)).status).toBe(403);
    const versions = '<Delete><Object><Key>tmp/b</Key><VersionId>null</VersionId></Object></Delete>';
    expect((await service.send({ ...request, body: versions }, stranger)).text).toContain('AccessDenied');
    expect((await service.send({ path: '/bucket/kept/a' }, owner)).status).toBe(200);
  });

  it('is asked of both sides of a copy', async () => {
    const service = await started();
    await done(service, putKey('content'));
    await done(service, { method: 'PUT', path: '/theirs' }, stranger);
    const copies: readonly Unsigned[] = [
      { method: 'PUT', path: '/theirs/copy', headers: { 'x-amz-copy-source': '/bucket/key' } },
      { method: 'PUT', path: '/theirs/copy', headers: { 'x-amz-copy-source': '/bucket/key?versionId=null' } },
      { method: 'PUT', path: '/bucket/copy', headers: { 'x-amz-copy-source': '/theirs/key' } },
    ];
    await done(service, { ...putKey('theirs'), path: '/theirs/key' }, stranger);
    for (const copy of copies) expect((await service.send(copy, stranger)).code).toBe('AccessDenied');
    await setPolicy(service, { Action: ['s3:GetObject', 's3:PutObject'], Resource: objects });
    expect((await service.send(copies[0]!, stranger)).status).toBe(200);
    expect((await service.send(copies[1]!, stranger)).code).toBe('AccessDenied');
    expect((await service.send(copies[2]!, stranger)).status).toBe(200);
  });

  it.each([
    ['who sends it', { StringEquals: { 'aws:username': 'key-of-friend' } }],
    ['how it is signed', { StringEquals: { 's3:authType': 'REST-HEADER', 'aws:username': 'key-of-friend' } }],
    [
      'when',
      { DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' }, StringLike: { 'aws:username': '*friend' } },
    ],
  ])('is told %s by the service, not by header fields', async (_, Condition) => {
    const service = await started();
    await done(service, putKey('content'));
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects, Condition });
    const claims = {
      'aws:username': 'key-of-friend',
      'x-aws-username': 'key-of-friend',
      'x-forwarded-for': '192.0.2.1',
      'aws-sourceip': '192.0.2.1',
    };
    const headers = Object.fromEntries(Object.entries(claims).filter(([name]) => !name.includes(':')));
    expect((await service.send({ path: '/bucket/key' }, friend)).status).toBe(200);
    for (const by of [stranger, undefined]) {
      expect((await service.send({ path: '/bucket/key', headers }, by)).status).toBe(403);
    }
  });

  it('is told where a request comes from by the transport', async () => {
    const service = await started();
    await done(service, putKey('content'));
    const get = (headers: Readonly<Record<string, string>> = {}) =>
      service.send({ path: '/bucket/key', headers }, stranger);
    const from = (range: string) => ({ IpAddress: { 'aws:SourceIp': range } });
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects, Condition: from('192.0.2.0/24') });
    expect((await get()).status).toBe(200);
    await setPolicy(service, { Action: 's3:GetObject', Resource: objects, Condition: from('198.51.100.0/24') });
    expect((await get({ 'x-forwarded-for': '198.51.100.1' })).status).toBe(403);
  });

  it('is told what an upload asks for', async () => {
    const service = await started();
    const Condition = {
      StringEquals: { 's3:RequestObjectTag/team': 'red' },
      StringLike: { 's3:x-amz-acl': 'public*' },
    };
    await setPolicy(service, {
      Action: ['s3:PutObject', 's3:PutObjectTagging', 's3:PutObjectAcl'],
      Resource: objects,
      Condition,
    });
    const upload = (tagging: string, acl: string) =>
      service.send(putKey('x', { headers: { 'x-amz-tagging': tagging, 'x-amz-acl': acl } }), stranger);
    expect((await upload('team=blue', 'public-read')).status).toBe(403);
    expect((await upload('team=red', 'private')).status).toBe(403);
    expect((await upload('team=red', 'public-read')).status).toBe(200);
  });

  it('is told the tags of a document before it is acted on', async () => {
    const service = await started();
    await done(service, putKey('content'));
    const Condition = { StringEquals: { 's3:RequestObjectTag/team': 'red' } };
    await setPolicy(service, { Action: 's3:PutObjectTagging', Resource: objects, Condition });
    const tag = (team: string) =>
      service.send(
        {
          ...{ method: 'PUT', path: '/bucket/key', query: 'tagging' },
          body: `<Tagging><TagSet><Tag><Key>team</Key><Value>${team}</Value></Tag></TagSet></Tagging>`,
        },
        stranger,
      );
    expect((await tag('blue')).status).toBe(403);
    expect((await tag('red')).status).toBe(200);
  });

  it('that shuts out its own bucket’s owner can be taken back, unless they wanted it so', async () => {
    const deny = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: whole }],
    };
    const body = JSON.stringify(deny);
    const request = { method: 'PUT', path: '/bucket', query: 'policy', body };
    const service = await started();
    await done(service, request);
    expect((await service.send({ path: '/bucket' }, owner)).code).toBe('AccessDenied');
    expect((await service.send({ path: '/bucket', query: 'policy' }, stranger)).code).toBe('AccessDenied');
    for (const by of [owner, colleague]) await done(service, { path: '/bucket', query: 'policy' }, by);
    await done(service, { method: 'DELETE', path: '/bucket', query: 'policy' }, colleague);
    await done(service, { path: '/bucket' });
    await done(service, { ...request, headers: { 'x-amz-confirm-remove-self-bucket-access': 'true' } });
    for (const method of ['GET', 'DELETE', 'PUT']) {
      expect((await service.send({ ...request, method }, owner)).code).toBe('AccessDenied');
    }
  });
});

describe('a bucket whose name is taken again', () => {
  it('has nothing of the former one, and opens no door to it', async () => {
    const service = await started();
    await done(service, {
      method: 'PUT',
      path: '/bucket',
      query: 'acl',
      headers: { 'x-amz-acl': 'public-read-write' },
    });
    await setPolicy(service, { Action: 's3:*', Resource: whole });
    await done(service, { method: 'DELETE', path: '/bucket' });
    await done(service, { method: 'PUT', path: '/bucket' }, stranger);
    await done(service, putKey('theirs'), stranger);
    for (const request of [{ path: '/bucket' }, { path: '/bucket/key' }, { path: '/bucket', query: 'acl' }]) {
      for (const by of [undefined, owner]) expect((await service.send(request, by)).code).toBe('AccessDenied');
      expect((await service.sendPresigned(request, owner)).code).toBe('AccessDenied');
    }
    expect((await service.send({ path: '/bucket', query: 'policy' }, stranger)).code).toBe('NoSuchBucketPolicy');
  });
});
