import { expect, it } from 'vitest';
import { isPublic } from '../../../../shared/access/policies/policy.ts';
import { policyOf, statement } from './policies.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-policy-status */
const when = (operator: string, key: string, value: unknown): object =>
  statement({ Condition: { [operator]: { [key]: value } } });

it.each([
  ['everybody', statement(), true],
  ['everybody, in another spelling', statement({ Principal: { AWS: ['*', 'main-id'] } }), true],
  ['a project', statement({ Principal: { AWS: 'main-id' } }), false],
  ['what is denied', statement({ Effect: 'Deny' }), false],
  ['a range of addresses', when('IpAddress', 'aws:SourceIp', ['192.0.2.0/24', '2001:db8::/32']), false],
  ['the widest range that has an owner', when('IpAddress', 'aws:SourceIp', '10.0.0.0/8'), false],
  [
    'many ranges with owners',
    when('IpAddress', 'aws:SourceIp', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
    false,
  ],
  [
    'the world in pieces',
    when(
      'IpAddress',
      'aws:SourceIp',
      Array.from({ length: 256 }, (_, n) => `${n}.0.0.0/8`),
    ),
    true,
  ],
  [
    'every other piece',
    when(
      'IpAddress',
      'aws:SourceIp',
      Array.from({ length: 128 }, (_, n) => `${2 * n}.0.0.0/8`),
    ),
    true,
  ],
  ['neighbours', when('IpAddress', 'aws:SourceIp', ['16.0.0.0/8', '17.0.0.0/9']), true],
  ['the same range twice', when('IpAddress', 'aws:SourceIp', ['10.0.0.0/8', '10.0.0.0/9']), false],
  ['half the world', when('IpAddress', 'aws:SourceIp', '0.0.0.0/1'), true],
  ['one small range and the world', when('IpAddress', 'aws:SourceIp', ['192.0.2.0/24', '::/0']), true],
  ['all but a range', when('NotIpAddress', 'aws:SourceIp', '192.0.2.0/24'), true],
  ['a range, if there is an address', when('IpAddressIfExists', 'aws:SourceIp', '192.0.2.0/24'), true],
  ['all of no addresses', when('ForAllValues:IpAddress', 'aws:SourceIp', '192.0.2.0/24'), true],
  // Every project can have one.
  ['users of a name', when('StringEquals', 'aws:username', 'alice'), true],
  ['users by a pattern', when('StringLike', 'aws:username', 'a*'), true],
  ['whoever they are', when('StringEquals', 'aws:username', '${aws:username}'), true],
  ['one ARN', when('ArnEquals', 'aws:PrincipalArn', 'arn:aws:iam::main-id:user/alice'), false],
  ['what a client makes up', when('StringEquals', 'aws:Referer', 'https://example.test/'), true],
  ['TLS', when('Bool', 'aws:SecureTransport', 'true'), true],
])('%s: %s', (_, one, expected) => {
  expect(isPublic(policyOf(one))).toBe(expected);
});

it('statements count together that cut up the world', () => {
  const pieces = Array.from({ length: 32 }, (_, n) => when('IpAddress', 'aws:SourceIp', `${8 * n}.0.0.0/8`));
  expect(isPublic(policyOf(...pieces.slice(0, 16)))).toBe(false);
  expect(isPublic(policyOf(...pieces))).toBe(true);
});

it('all conditions of a statement must be met', () => {
  const both = {
    IpAddress: { 'aws:SourceIp': '0.0.0.0/0' },
    ArnEquals: { 'aws:PrincipalArn': 'arn:aws:iam::main-id:user/alice' },
  };
  expect(isPublic(policyOf(statement({ Condition: both })))).toBe(false);
});

it('one statement of many is enough', () => {
  expect(isPublic(policyOf(statement({ Principal: { AWS: 'main-id' } }), statement()))).toBe(true);
});
