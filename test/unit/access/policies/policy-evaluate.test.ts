import { describe, expect, it, vi } from 'vitest';
import { parsePolicy } from '../../../../shared/access/policies/policy.ts';
import { bound, bucket, callers, policyOf, policyText, prepared, statement, verdict, type Asked } from './policies.ts';

const arn = (rest: string): string => `arn:aws:s3:::${bucket}${rest}`;

describe('the order', () => {
  const allow = statement();
  const deny = statement({ Effect: 'Deny', Resource: arn('/secret*') });

  it.each([
    ['allow', [allow, deny], 'cat.jpg'],
    ['deny', [allow, deny], 'secret.txt'],
    ['deny', [deny, allow], 'secret.txt'],
    ['none', [deny], 'cat.jpg'],
  ])('%s', async (expected, statements, key) => {
    expect(await verdict(policyOf(...statements), { key })).toBe(expected);
  });
});

describe('who is meant', () => {
  it.each([
    ['*', ['alice', 'carol', 'bob', 'nobody']],
    [{ AWS: '*' }, ['alice', 'carol', 'bob', 'nobody']],
    [{ AWS: ['other-id', '*'] }, ['alice', 'carol', 'bob', 'nobody']],
    [{ CanonicalUser: '*' }, []],
    [{ AWS: 'main-id' }, ['alice', 'carol']],
    [{ CanonicalUser: 'main-id' }, ['alice', 'carol']],
    [{ AWS: 'main@example.test' }, ['alice', 'carol']],
    [{ AWS: 'arn:aws:iam::main-id:root' }, ['alice', 'carol']],
    [{ AWS: 'arn:aws:iam::main@example.test:root' }, ['alice', 'carol']],
    [{ AWS: 'arn:svc:iam::main-id:user/alice' }, ['alice']],
    [{ AWS: ['arn:aws:iam::main-id:user/alice', 'other-id'] }, ['alice', 'bob']],
    [{ AWS: 'arn:aws:iam:::user/main-id' }, ['alice', 'carol']],
    [{ AWS: 'arn:aws:iam::other-id:user/alice' }, []],
    [{ AWS: 'arn:aws:iam::main-id:user/*' }, []],
    [{ AWS: 'MAIN-ID' }, []],
    [{ AWS: 'main' }, []],
  ])('%j', async (Principal, expected) => {
    const policy = policyOf(statement({ Principal }));
    const allowed: string[] = [];
    for (const [name, caller] of Object.entries(callers)) {
      if ((await verdict(policy, { caller })) === 'allow') allowed.push(name);
    }
    expect(allowed).toEqual(expected);
  });
});

describe('what is meant', () => {
  it.each<[string, object, Asked, boolean]>([
    ['the action itself', {}, {}, true],
    ['another action', {}, { action: 'PutObject' }, false],
    ['not a version', {}, { action: 'GetObjectVersion' }, false],
    ['a pattern, in any case', { Action: 'S3:getobject*' }, { action: 'GetObjectVersion' }, true],
    ['one character', { Action: 's3:?etObject' }, { action: 'GetObject' }, true],
    ['NotAction: others', { Action: undefined, NotAction: 's3:PutObject' }, {}, true],
    ['NotAction: itself', { Action: undefined, NotAction: 's3:Get*' }, {}, false],
    ['the bucket is no object', { Action: '*', Resource: arn('') }, {}, false],
    ['an object is not the bucket', { Action: '*' }, { action: 'ListBucket', key: undefined }, false],
    ['the bucket', { Action: '*', Resource: arn('') }, { action: 'ListBucket', key: undefined }, true],
    ['the bucket, whatever key is named', { Action: '*' }, { action: 'ListBucket', key: 'x' }, false],
    ['both', { Action: '*', Resource: '*' }, { action: 'ListBucket', key: undefined }, true],
    ['a star reaches over slashes', { Resource: arn('/a*z') }, { key: 'a/b/c/z' }, true],
    ['keys have a case', { Resource: arn('/Cat.jpg') }, {}, false],
    ['a trailing star', { Resource: arn('/cat*') }, { key: 'cat' }, true],
    ['NotResource: others', { Resource: undefined, NotResource: arn('/dog*') }, {}, true],
    ['NotResource: itself', { Resource: undefined, NotResource: arn('/cat*') }, {}, false],
    ['what no policy knows', { Action: '*', Resource: '*' }, { action: 'FlyToTheMoon' }, false],
  ])('%s', async (_, parts, asked, expected) => {
    expect(await verdict(policyOf(statement(parts)), asked)).toBe(expected ? 'allow' : 'none');
  });
});

describe('variables', () => {
  const home = arn('/${aws:username}/*');

  it.each<[string, string, string, Readonly<Record<string, string[]>>, boolean]>([
    ['stand for their values', home, 'bob/x', { 'aws:username': ['bob'] }, true],
    ['and for nothing else', home, 'alice/x', { 'aws:username': ['bob'] }, false],
    ['whose stars are stars', home, 'alice/x', { 'aws:username': ['*'] }, false],
    ['and match themselves', home, '*/x', { 'aws:username': ['*'] }, true],
    ['match nothing without a value', home, '/x', {}, false],
    ['nor with two', home, 'a/x', { 'aws:username': ['a', 'b'] }, false],
    ['have a fallback', arn("/${aws:username, 'all'}/*"), 'all/x', {}, true],
    [
      'which is not for those who have a value',
      arn("/${aws:username, 'all'}/*"),
      'all/x',
      { 'aws:username': ['bob'] },
      false,
    ],
    ['escape wildcards', arn('/a${*}${?}${$}'), 'a*?$', {}, true],
    ['which are none then', arn('/a${*}'), 'abc', {}, false],
    ['need an end', arn('/${aws:username'), '${aws:username', {}, true],
  ])('%s', async (_, Resource, key, facts, expected) => {
    expect(await verdict(policyOf(statement({ Resource })), { key, facts })).toBe(expected ? 'allow' : 'none');
  });

  it('are text in the older version', async () => {
    const text = policyText(statement({ Resource: home }), { Version: '2008-10-17' });
    const policy = bound(parsePolicy(text, bucket));
    expect(await verdict(policy, { key: 'bob/x', facts: { 'aws:username': ['bob'] } })).toBe('none');
    expect(await verdict(policy, { key: '${aws:username}/x' })).toBe('allow');
  });

  it('longer than the text are not put in at all', async () => {
    const Condition = { StringLike: { 'aws:UserAgent': '*${aws:referer}'.repeat(100) } };
    const facts = { 'aws:referer': ['a'.repeat(8_000)], 'aws:useragent': ['a'.repeat(8_000)] };
    expect(await verdict(policyOf(statement({ Condition })), { facts })).toBe('none');
  });
});

it('asks for what a condition needs only if all else matches', async () => {
  const Condition = { StringEquals: { 's3:ExistingObjectTag/Team': 'storage' } };
  const policy = policyOf(statement({ Condition, Resource: arn('/tagged/*') }));
  const conditions = vi.fn(async () => ['storage']);
  const verdictOn = (action: string, key: string): Promise<string> =>
    prepared(policy, callers.bob).verdict({ action, key, conditions });
  expect(await verdictOn('PutObject', 'tagged/a')).toBe('none');
  expect(await verdictOn('GetObject', 'a')).toBe('none');
  expect(conditions).not.toHaveBeenCalled();
  expect(await verdictOn('GetObject', 'tagged/a')).toBe('allow');
  expect(conditions.mock.calls).toEqual([['s3:existingobjecttag/Team']]);
});
