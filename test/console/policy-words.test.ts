import { describe, expect, it } from 'vitest';
import { jsonFault, shortFormOf, wordsOfManaged, wordsOfPolicy } from '../../console/pages/people/policy-words.ts';
import { awsPolicies, awsPolicyPath } from '../../shared/accounts/aws-policies.ts';
import { accesses, shortPolicy } from '../../shared/documents/short-policy.ts';

const policy = (...Statement: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement });

describe('the form of policies', () => {
  it('reads every policy that it writes, however that is laid out', () => {
    for (const access of accesses) {
      for (const prefix of ['', '2026/', 'a*b?/$', '${*}', '*', 'ü/ ', '/']) {
        const form = { bucket: 'photos', prefix, access };
        const text = shortPolicy(form.bucket, prefix, access);
        expect(shortFormOf(text)).toEqual(form);
        expect(shortFormOf(JSON.stringify(JSON.parse(text)))).toEqual(form);
      }
    }
  });

  it('does not take another policy for one of its own', () => {
    const text = shortPolicy('photos', '2026/', 'read');
    const { Version, Statement } = JSON.parse(text) as { Version: string; Statement: object[] };
    for (const other of [
      JSON.stringify({ Version, Statement: [...Statement, Statement[0]] }),
      JSON.stringify({ Version, Statement: Statement.slice(1) }),
      JSON.stringify({ Version, Id: 'x', Statement }),
      text.replace('s3:GetObject"', 's3:DeleteObject"'),
      text.replace('photos/2026/*', 'photos/2027/*'),
      text.replace('"Allow"', '"Deny"'),
      policy({ Effect: 'Allow', Action: 's3:*', Resource: '*' }),
      policy({ Effect: 'Allow', Action: 's3:GetBucketLocation', Resource: 7 }),
      '{"Statement":[null]}',
      '{}',
      'null',
      '[',
      '',
    ]) {
      expect(shortFormOf(other), other).toBeUndefined();
    }
  });
});

describe('a policy in words', () => {
  it('is what its form says', () => {
    expect(wordsOfPolicy(shortPolicy('photos', '2026/', 'read-write'))).toEqual([
      'Read, write, delete and list in photos/2026/',
    ]);
    expect(wordsOfPolicy(shortPolicy('photos', '', 'list'))).toEqual(['List names in photos']);
  });

  it('is a line for each statement otherwise', () => {
    expect(
      wordsOfPolicy(
        policy(
          { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject'], Resource: 'arn:aws:s3:::photos/*' },
          { Effect: 'Deny', NotAction: 's3:GetObject', Resource: '*', Condition: { Bool: { a: 'true' } } },
          { Effect: 'Allow', Action: '*', NotResource: ['arn:aws:s3:::a', 'arn:aws:s3:::b'] },
        ),
      ),
    ).toEqual([
      'Allows s3:GetObject, s3:PutObject on photos/*',
      'Denies all but s3:GetObject on everything, under conditions',
      'Allows everything on all but a, b',
    ]);
  });

  it('shows what cannot be seen, and says if it cannot be read', () => {
    const hidden = policy({ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::a\u202eb' });
    expect(wordsOfPolicy(hidden)).toEqual(['Allows s3:* on a\ufffdb']);
    for (const text of ['', '{}', 'null', '{"Statement":"x"}'])
      expect(wordsOfPolicy(text)).toEqual(['A policy that cannot be read here']);
  });

  it('is known of every managed policy that all projects have', () => {
    for (const name of awsPolicies.keys()) expect(wordsOfManaged(awsPolicyPath + name)).toMatch(/^(?:Every|Read|See)/);
    expect(wordsOfManaged('arn:aws:iam::123456789012:policy/FullAccess')).toBeUndefined();
  });
});

describe('a policy that is written as JSON', () => {
  it('is said to be none as long as it is not', () => {
    expect(jsonFault('{"a":')).toMatch(/^Not JSON: /);
    expect(jsonFault('{"a":1}')).toBeUndefined();
  });
});
