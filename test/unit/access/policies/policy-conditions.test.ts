import { describe, expect, it } from 'vitest';
import { policyOf, statement, verdict } from './policies.ts';

/** Operator, key and values of the policy, values of the request, whether that is met. */
type Row = readonly [string, string, string | readonly string[], readonly string[] | undefined, boolean];

const agent = 'aws:UserAgent';
const ip = 'aws:SourceIp';

const rows: readonly Row[] = [
  ['StringEquals', agent, 'curl', ['curl'], true],
  ['StringEquals', agent, 'curl', ['Curl'], false],
  ['StringEquals', agent, 'c*', ['curl'], false],
  ['StringEquals', agent, ['wget', 'curl'], ['curl'], true],
  ['StringEquals', agent, 'curl', undefined, false],
  ['StringEqualsIfExists', agent, 'curl', undefined, true],
  ['StringEqualsIfExists', agent, 'curl', ['wget'], false],
  ['StringNotEquals', agent, 'curl', ['wget'], true],
  ['StringNotEquals', agent, 'curl', ['curl'], false],
  ['StringNotEquals', agent, ['wget', 'curl'], ['curl'], false],
  ['StringNotEquals', agent, 'curl', undefined, true],
  ['StringEqualsIgnoreCase', agent, 'CURL', ['Curl'], true],
  ['StringNotEqualsIgnoreCase', agent, 'CURL', ['Curl'], false],
  ['StringLike', agent, 'c?r*', ['curl/8'], true],
  ['StringLike', agent, 'c?r*', ['wget'], false],
  ['StringNotLike', agent, 'c*', ['curl'], false],
  ['StringNotLike', agent, 'c*', ['wget'], true],
  ['NumericEquals', 's3:max-keys', '10', ['10.0'], true],
  ['NumericNotEquals', 's3:max-keys', '10', ['10.0'], false],
  ['NumericLessThan', 's3:max-keys', '10', ['9'], true],
  ['NumericLessThan', 's3:max-keys', '10', ['10'], false],
  ['NumericLessThanEquals', 's3:max-keys', '10', ['10'], true],
  ['NumericGreaterThan', 's3:max-keys', '9', ['10'], true],
  ['NumericGreaterThan', 's3:max-keys', '9', ['9'], false],
  ['NumericGreaterThanEquals', 's3:max-keys', '9', ['9'], true],
  ['NumericLessThan', 's3:max-keys', '10', ['few'], false],
  ['DateGreaterThan', 'aws:CurrentTime', '2026-01-01T00:00:00Z', ['2026-01-01T00:00:01Z'], true],
  ['DateLessThan', 'aws:CurrentTime', '2026-01-01T00:00:00Z', ['2026-01-01T00:00:01Z'], false],
  ['DateEquals', 'aws:CurrentTime', '2026-01-01T01:00:00+01:00', ['2026-01-01T00:00:00Z'], true],
  ['DateNotEquals', 'aws:CurrentTime', '2026-01-01T01:00:00+01:00', ['2026-01-01T00:00:00Z'], false],
  ['DateLessThanEquals', 'aws:EpochTime', '1767225600', ['1767225600'], true],
  ['DateGreaterThanEquals', 'aws:EpochTime', '2026-01-01', ['1767225600'], true],
  ['Bool', 'aws:SecureTransport', 'false', ['false'], true],
  ['Bool', 'aws:SecureTransport', 'TRUE', ['true'], true],
  ['Bool', 'aws:SecureTransport', 'true', ['false'], false],
  ['BinaryEquals', agent, 'Y3VybA==', ['Y3VybA=='], true],
  ['BinaryEquals', agent, 'Y3VybA==', ['Y3VybB=='], false],
  ['IpAddress', ip, '192.0.2.0/24', ['192.0.2.77'], true],
  ['IpAddress', ip, '192.0.2.0/24', ['192.0.3.1'], false],
  ['IpAddress', ip, '192.0.2.1', ['192.0.2.1'], true],
  ['IpAddress', ip, '192.0.2.1', ['192.0.2.2'], false],
  ['IpAddress', ip, ['10.0.0.0/8', '2001:db8::/32'], ['2001:db8:1::1'], true],
  ['IpAddress', ip, '2001:db8::/32', ['192.0.2.1'], false],
  ['IpAddress', ip, '192.0.2.0/24', ['::ffff:192.0.2.5'], true],
  ['IpAddress', ip, '::ffff:192.0.2.0/120', ['192.0.2.5'], true],
  ['IpAddress', ip, '::ffff:192.0.2.0/120', ['192.0.3.5'], false],
  ['IpAddress', ip, '0.0.0.0/0', ['2001:db8::1'], false],
  ['IpAddress', ip, '0.0.0.0/0', ['198.51.100.1'], true],
  ['IpAddress', ip, '0.0.0.0/0', ['unix'], false],
  ['NotIpAddress', ip, '192.0.2.0/24', ['unknown'], false],
  ['IpAddressIfExists', ip, '192.0.2.0/24', ['unknown'], false],
  ['StringNotEquals', ip, '192.0.2.1', ['unknown'], false],
  ['StringLike', ip, '*', ['unknown'], false],
  ['Null', ip, 'false', ['unknown'], false],
  ['NotIpAddress', ip, '192.0.2.0/24', ['192.0.2.77'], false],
  ['NotIpAddress', ip, '192.0.2.0/24', ['192.0.3.1'], true],
  ['NotIpAddress', ip, ['192.0.2.0/24', '192.0.3.0/24'], ['192.0.3.1'], false],
  ['ArnLike', 'aws:PrincipalArn', 'arn:aws:iam::*:user/a*', ['arn:aws:iam::main:user/alice'], true],
  ['ArnEquals', 'aws:PrincipalArn', 'arn:aws:iam::main:user/alice', ['arn:aws:iam::main:user/alice'], true],
  ['ArnLike', 'aws:PrincipalArn', 'arn:*:user/alice', ['arn:aws:iam::main:user/alice'], false],
  ['ArnNotLike', 'aws:PrincipalArn', 'arn:aws:iam::*:user/a*', ['arn:aws:iam::main:user/alice'], false],
  ['ArnNotEquals', 'aws:PrincipalArn', 'arn:aws:iam::*:user/a*', ['arn:aws:iam::main:user/bob'], true],
  ['Null', 'aws:Referer', 'true', undefined, true],
  ['Null', 'aws:Referer', 'true', ['x'], false],
  ['Null', 'aws:Referer', 'false', ['x'], true],
  ['Null', 'aws:Referer', 'false', undefined, false],
  // More than one value in the request
  ['StringEquals', agent, 'a', ['a', 'b'], true],
  ['StringNotEquals', agent, 'a', ['a', 'b'], false],
  ['ForAllValues:StringEquals', agent, ['a', 'b'], ['a', 'b'], true],
  ['ForAllValues:StringEquals', agent, ['a', 'b'], ['a', 'c'], false],
  ['ForAllValues:StringEquals', agent, 'a', undefined, true],
  ['ForAnyValue:StringEquals', agent, 'a', ['b', 'a'], true],
  ['ForAnyValue:StringEquals', agent, 'a', ['b'], false],
  ['ForAnyValue:StringEquals', agent, 'a', undefined, false],
  ['ForAllValues:StringNotEquals', agent, ['a', 'b'], ['c', 'd'], true],
  ['ForAllValues:StringNotEquals', agent, ['a', 'b'], ['c', 'a'], false],
  ['ForAnyValue:StringNotEquals', agent, ['a', 'b'], ['a', 'c'], true],
  ['ForAnyValue:StringNotEquals', agent, ['a', 'b'], ['a', 'b'], false],
  ['ForAnyValue:StringNotEquals', agent, 'a', undefined, false],
  ['ForAnyValue:StringEqualsIfExists', agent, 'a', undefined, true],
  // Keys
  ['StringEquals', 'AWS:userAGENT', 'curl', ['curl'], true],
  ['StringLike', 'svc:prefix', 'home/*', ['home/x'], true],
];

const facts = (key: string, values: readonly string[] | undefined): Record<string, readonly string[]> =>
  values === undefined ? {} : { [key.toLowerCase().replace(/^svc:/, 's3:')]: values };

it.each(rows)('%s %s %j, given %j: %s', async (operator, key, values, given, expected) => {
  const policy = policyOf(statement({ Condition: { [operator]: { [key]: values } } }));
  expect(await verdict(policy, { facts: facts(key, given) })).toBe(expected ? 'allow' : 'none');
});

describe('together', () => {
  const Condition = {
    StringEquals: { [agent]: 'curl', 'aws:Referer': 'here' },
    IpAddress: { [ip]: '10.0.0.0/8' },
  };
  const all = { 'aws:useragent': ['curl'], 'aws:referer': ['here'], 'aws:sourceip': ['10.1.2.3'] };

  it('all conditions must be met', async () => {
    const policy = policyOf(statement({ Condition }));
    expect(await verdict(policy, { facts: all })).toBe('allow');
    for (const key of Object.keys(all)) expect(await verdict(policy, { facts: { ...all, [key]: ['x'] } })).toBe('none');
  });
});

it('what is denied to all but some addresses is denied to one that is not known', async () => {
  const deny = (operator: string): object =>
    statement({ Effect: 'Deny', Condition: { [operator]: { [ip]: '192.0.2.0/24' } } });
  const facts = { 'aws:sourceip': ['unknown'] };
  expect(await verdict(policyOf(statement(), deny('NotIpAddress')), { facts })).toBe('deny');
  expect(await verdict(policyOf(statement(), deny('IpAddress')), { facts })).toBe('allow');
});

it('an address that is not known fills no variable, and nothing is allowed because it does not', async () => {
  const asked = { key: 'unknown/key', facts: { 'aws:sourceip': ['unknown'], 's3:prefix': ['unknown'] } };
  const at = async (change: object): Promise<string> => verdict(policyOf(statement(), statement(change)), asked);
  const alone = async (change: object): Promise<string> => verdict(policyOf(statement(change)), asked);
  const home = 'arn:aws:s3:::photos/${aws:SourceIp}/*';
  const other = (name: string): object => ({ Resource: undefined, NotResource: name });
  const prefix = (operator: string): object => ({ Condition: { [operator]: { 's3:prefix': '${aws:SourceIp}' } } });
  expect(await alone({ Resource: home })).toBe('none');
  expect(await alone({ Resource: "arn:aws:s3:::photos/${aws:SourceIp, 'unknown'}/*" })).toBe('none');
  expect(await alone({ Resource: [home, 'arn:aws:s3:::photos/unknown/*'] })).toBe('allow');
  expect(await alone(other(home))).toBe('none');
  expect(await alone(prefix('StringEquals'))).toBe('none');
  expect(await alone(prefix('StringNotEquals'))).toBe('none');
  expect(await at({ Effect: 'Deny', Resource: home })).toBe('allow');
  expect(await at({ Effect: 'Deny', ...other(home) })).toBe('deny');
  expect(await at({ Effect: 'Deny', ...prefix('StringEquals') })).toBe('allow');
  expect(await at({ Effect: 'Deny', ...prefix('StringNotEquals') })).toBe('deny');
});

it('the key of a tag has a case, and may have slashes', async () => {
  const policy = policyOf(statement({ Condition: { StringEquals: { 'S3:existingObjectTag/Team/A': 'x' } } }));
  expect(await verdict(policy, { facts: { 's3:existingobjecttag/Team/A': ['x'] } })).toBe('allow');
  expect(await verdict(policy, { facts: { 's3:existingobjecttag/team/a': ['x'] } })).toBe('none');
});

it('values have variables, where they are texts', async () => {
  const policy = policyOf(statement({ Condition: { StringLike: { 's3:prefix': '${aws:username}/*' } } }));
  expect(await verdict(policy, { facts: { 's3:prefix': ['bob/x'], 'aws:username': ['bob'] } })).toBe('allow');
  expect(await verdict(policy, { facts: { 's3:prefix': ['eve/x'], 'aws:username': ['bob'] } })).toBe('none');
});
