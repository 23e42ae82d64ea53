import { expect, it } from 'vitest';
import { parsePolicy } from '../../../../shared/access/policies/policy.ts';
import { bucket, policyText, statement } from './policies.ts';

const read = (text: Buffer | string): unknown => parsePolicy(Buffer.from(text), bucket);
const malformed = (message: string): unknown =>
  expect.objectContaining({ code: 'MalformedPolicy', message: expect.stringContaining(message) as string });

function errorOf(text: Buffer | string): unknown {
  try {
    read(text);
  } catch (error) {
    return error;
  }
  return 'it was read';
}

const object = `arn:aws:s3:::${bucket}/*`;
const itself = `arn:aws:s3:::${bucket}`;

it.each([
  ['one statement without a list', statement()],
  ['lists', [statement({ Sid: 'a', Action: ['s3:GetObject', 's3:PutObject'], Resource: [object, `${object}.jpg`] })]],
  ['the other spelling', statement({ Action: 'svc:GetObject', Resource: `arn:svc:svc:::${bucket}/*` })],
  ['a mixed ARN', statement({ Resource: `arn:aws:svc:::${bucket}/*` })],
  ['an ARN of any account', statement({ Resource: `arn:aws:s3::*:${bucket}/*` })],
  ['every action', statement({ Action: '*' })],
  ['every action of S3', statement({ Action: 's3:*', Resource: itself })],
  ['actions in any case', statement({ Action: 'S3:gEtObJect' })],
  ['every resource', statement({ Resource: '*' })],
  ['an ARN that is a pattern of buckets', statement({ Resource: 'arn:aws:s3:::*' })],
  ['a pattern that the bucket is in', statement({ Resource: 'arn:aws:s3:::pho?os/*' })],
  ['a principal of each kind', statement({ Principal: { AWS: ['main-id', 'main@example.test'], CanonicalUser: 'x' } })],
  ['a user and a role', statement({ Principal: { AWS: ['user', 'role'].map((one) => `arn:aws:iam::main:${one}/x`) } })],
  [
    'NotAction and NotResource',
    statement({ Action: undefined, NotAction: 's3:PutObject', NotResource: object, Resource: undefined }),
  ],
  ['no condition', statement({ Condition: {} })],
  [
    'values that are no strings',
    statement({ Condition: { Bool: { 'aws:SecureTransport': true }, NumericLessThan: { 's3:max-keys': 5 } } }),
  ],
])('reads %s', (_, statements) => {
  expect(read(policyText(statements))).toHaveProperty('statements');
});

it.each(['2012-10-17', '2008-10-17'])('reads version %s', (Version) => {
  expect(read(policyText(statement(), { Version, Id: 'x' }))).toHaveProperty('statements');
});

const twice = `{"Statement":[],"Statement":${JSON.stringify(statement())}}`;

it.each([
  ['no JSON', 'policy', 'Policies must be valid JSON: it is not valid JSON at character 1'],
  ['no object', '[]', 'A policy must be a JSON object'],
  ['a field twice', twice, '"Statement" appears twice'],
  ['deep nesting', '['.repeat(10_000), 'nested too deeply'],
  ['something behind it', `${policyText(statement()).toString()}x`, 'it is not valid JSON'],
  ['__proto__', '{"__proto__":{"Statement":[]}}', 'Unknown field: __proto__'],
  ['constructor', `{"constructor":1,"Statement":${JSON.stringify(statement())}}`, 'Unknown field: constructor'],
  ['another version', policyText(statement(), { Version: '2020-01-01' }), 'valid version string'],
  ['an Id that is no string', policyText(statement(), { Id: 5 }), 'Id must be a string'],
  ['no statement', '{"Version":"2012-10-17"}', 'Missing required field Statement'],
  ['no statements', policyText([]), 'Statement is empty'],
  ['an unknown field', policyText(statement(), { Statements: [] }), 'Unknown field: Statements'],
])('refuses %s', (_, text, message) => {
  expect(errorOf(text)).toEqual(malformed(message));
});

const condition = (operator: string, key: string, value: unknown): object =>
  statement({ Condition: { [operator]: { [key]: value } } });

it.each([
  ['a statement that is empty', {}, 'Effect must be Allow or Deny'],
  ['a statement that is none', 'x', 'A statement must be a JSON object'],
  ['an unknown element', statement({ Conditions: {} }), 'Unknown field: Conditions'],
  ['NotPrincipal', statement({ Principal: undefined, NotPrincipal: '*' }), 'Unknown field: NotPrincipal'],
  ['an effect in another case', statement({ Effect: 'deny' }), 'Effect must be Allow or Deny'],
  ['no principal', statement({ Principal: undefined }), 'Missing required field Principal'],
  ['a bare principal', statement({ Principal: 'main-id' }), 'Invalid principal in policy'],
  ['nobody', statement({ Principal: { AWS: [] } }), 'Principal must be a string'],
  ['no kind of principal', statement({ Principal: {} }), 'Invalid principal in policy'],
  ['no service', statement({ Principal: { Service: 'logging' } }), 'Invalid principal in policy: logging'],
  ['any service', statement({ Principal: { Service: '*' } }), 'Invalid principal in policy: *'],
  ['a federation', statement({ Principal: { Federated: 'a' } }), 'Invalid principal in policy: Federated'],
  ['a role of nothing', statement({ Principal: { AWS: 'arn:aws:iam:::role/x' } }), 'Invalid principal in policy'],
  ['a session', statement({ Principal: { AWS: 'arn:aws:sts::main:assumed-role/x/y' } }), 'Invalid principal in policy'],
  ['a root of nothing', statement({ Principal: { AWS: 'arn:aws:iam:::root' } }), 'Invalid principal in policy'],
  ['an empty user', statement({ Principal: { AWS: 'arn:aws:iam::main:user/' } }), 'Invalid principal in policy'],
  ['no action', statement({ Action: undefined }), 'must have Action or NotAction'],
  ['both', statement({ NotAction: 's3:PutObject' }), 'must have Action or NotAction, and not both'],
  ['an empty list', statement({ Action: [] }), 'Action must be a string or a non-empty list'],
  ['an unknown action', statement({ Action: 's3:ReadObject' }), 'Policy has invalid action: s3:ReadObject'],
  ['an action of another service', statement({ Action: 'ec2:*' }), 'Policy has invalid action: ec2:*'],
  ['an action without its namespace', statement({ Action: 'GetObject' }), 'Policy has invalid action: GetObject'],
  ['one of two', statement({ Action: ['s3:GetObject', 's3:GetObjects'] }), 'Policy has invalid action: s3:GetObjects'],
  ['no resource', statement({ Resource: undefined }), 'must have Resource or NotResource'],
  ['a resource without an ARN', statement({ Resource: 'photos/*' }), 'Policy has invalid resource: photos/*'],
  [
    'another bucket',
    statement({ Resource: 'arn:aws:s3:::other/*' }),
    'Policy has invalid resource: arn:aws:s3:::other/*',
  ],
  ['a bucket whose name begins so', statement({ Resource: 'arn:aws:s3:::photos2/*' }), 'Policy has invalid resource'],
  [
    'a resource of a region',
    statement({ Resource: `arn:aws:s3:us-east-1::${bucket}/*` }),
    'Policy has invalid resource',
  ],
  ['what no object is called', statement({ Resource: `${itself}/` }), 'Policy has invalid resource'],
  [
    'an object and the bucket',
    statement({ Resource: itself }),
    'Action does not apply to any resource(s) in statement: s3:GetObject',
  ],
  [
    'a bucket and objects',
    statement({ Action: ['s3:GetObject', 's3:ListBucket'] }),
    'Action does not apply to any resource(s) in statement: s3:ListBucket',
  ],
  ['the service', statement({ Action: 's3:ListAllMyBuckets', Resource: '*' }), 'Action does not apply'],
  ['an unknown operator', condition('StringMatches', 'aws:Referer', 'x'), 'invalid condition operator: StringMatches'],
  ['an operator in another case', condition('stringequals', 'aws:Referer', 'x'), 'invalid condition operator'],
  ['an unknown quantifier', condition('ForSomeValues:StringEquals', 'aws:Referer', 'x'), 'invalid condition operator'],
  ['an operator of all objects', condition('constructor', 'aws:Referer', 'x'), 'invalid condition operator'],
  ['an unknown key', condition('StringEquals', 'aws:Referrer', 'x'), 'invalid condition key: aws:Referrer'],
  ['a key of all objects', condition('StringEquals', 'constructor', 'x'), 'invalid condition key'],
  ['a tag without its key', condition('StringEquals', 's3:ExistingObjectTag/', 'x'), 'invalid condition key'],
  ['no value', condition('StringEquals', 'aws:Referer', []), 'must have a value'],
  ['a value that is null', condition('StringEquals', 'aws:Referer', null), 'must be strings'],
  ['a condition that is a list', statement({ Condition: [] }), 'Condition must be an object'],
  ['an operator with a string', statement({ Condition: { Bool: 'true' } }), 'must be an object: Bool'],
  ['a number that is none', condition('NumericEquals', 's3:max-keys', 'ten'), 'Invalid value for NumericEquals: ten'],
  ['a date that is none', condition('DateLessThan', 'aws:CurrentTime', '2026-02-30'), 'Invalid value for DateLessThan'],
  ['an address that is none', condition('IpAddress', 'aws:SourceIp', '10.0.0'), 'Invalid value for IpAddress: 10.0.0'],
  ['an address in octal', condition('IpAddress', 'aws:SourceIp', '010.0.0.1'), 'Invalid value for IpAddress'],
  ['too long a prefix', condition('IpAddress', 'aws:SourceIp', '10.0.0.0/33'), 'Invalid value for IpAddress'],
  ['a truth that is none', condition('Bool', 'aws:SecureTransport', 'yes'), 'Invalid value for Bool: yes'],
  ['bytes that are none', condition('BinaryEquals', 'aws:Referer', '*'), 'Invalid value for BinaryEquals'],
  ['Null with IfExists', condition('NullIfExists', 'aws:Referer', 'true'), 'Null takes neither'],
  ['Null with a quantifier', condition('ForAnyValue:Null', 'aws:Referer', 'true'), 'Null takes neither'],
  ['Null of anything', condition('Null', 'aws:Referer', 'maybe'), 'Null must be given true or false'],
  ['an unknown variable', statement({ Resource: `${itself}/\${aws:user}` }), 'invalid condition key: aws:user'],
  ['a fallback without quotes', statement({ Resource: `${itself}/\${aws:username, x}` }), 'invalid variable'],
  ['many variables', statement({ Resource: `${itself}/${'${aws:username}'.repeat(101)}` }), 'too many variables'],
])('refuses %s', (_, one, message) => {
  expect(errorOf(policyText([one]))).toEqual(malformed(message));
});
