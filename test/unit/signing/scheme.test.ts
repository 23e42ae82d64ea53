import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { Query } from '../../../shared/http/query.ts';
import { recogniseScheme } from '../../../shared/signing/scheme.ts';
import { expectLinear } from '../../support/runs/growth.ts';

const recognise = (authorization: string | undefined, query = '') =>
  recogniseScheme(
    new Fields(authorization === undefined ? [] : [['Authorization', authorization]]),
    Query.parse(query),
  );

describe('recogniseScheme', () => {
  it.each([
    [undefined, '', 'anonymous'],
    [undefined, 'acl&prefix=X-Amz-Signature', 'anonymous'],
    ['AWS4-HMAC-SHA256 Credential=…', '', 'v4-header'],
    ['  SVC4-HMAC-SHA256\tCredential=…', '', 'v4-header'],
    ['AWS4-HMAC-SHA256', '', 'v4-header'],
    ['AWS AKID:c2ln', '', 'v2-header'],
    ['SVC project:user@customer:c2ln', '', 'v2-header'],
    ['AKID:c2ln', '', 'v2-header'],
    [undefined, 'X-Amz-Algorithm=AWS4-HMAC-SHA256', 'v4-presigned'],
    [undefined, 'x-amz-signature=', 'v4-presigned'],
    [undefined, 'X-Amz-Credential=a', 'v4-presigned'],
    [undefined, 'AWSAccessKeyId=AKID&Signature=x&Expires=1', 'v2-presigned'],
    [undefined, 'SVCAccessKeyId=AKID', 'v2-presigned'],
    [undefined, 'Signature=x', 'v2-presigned'],
  ])('takes Authorization %j and the query %j for %s', (authorization, query, scheme) => {
    expect(recognise(authorization, query)).toBe(scheme);
  });

  it.each([
    ['AWS garbage', '', 'InvalidArgument'],
    ['AWS', '', 'InvalidArgument'],
    ['AWS a b:c', '', 'InvalidArgument'],
    ['AWS :c2ln', '', 'InvalidArgument'],
    ['AWS AKID:', '', 'InvalidArgument'],
    ['garbage', '', 'InvalidArgument'],
    ['Basic dXNlcjpwYXNz', '', 'InvalidArgument'],
    ['Bearer a:b', '', 'InvalidArgument'],
    ['aws4-hmac-sha256 Credential=…', '', 'InvalidArgument'],
    ['AWS4-HMAC-SHA1 Credential=…', '', 'InvalidArgument'],
    ['AWS4-ECDSA-P256-SHA256 Credential=…', '', 'NotImplemented'],
    ['', '', 'AccessDenied'],
    ['   ', '', 'AccessDenied'],
    ['AWS4-HMAC-SHA256 Credential=…', 'X-Amz-Signature=a', 'InvalidArgument'],
    ['AWS4-HMAC-SHA256 Credential=…', 'AWSAccessKeyId=a', 'InvalidArgument'],
    ['', 'x-amz-signature=a', 'InvalidArgument'],
    ['AKID:c2ln', 'X-Amz-Algorithm=a', 'InvalidArgument'],
    [undefined, 'AWSAccessKeyId=a&X-Amz-Algorithm=a', 'InvalidArgument'],
  ])('answers to Authorization %j and the query %j with %s', (authorization, query, code) => {
    expect(() => recognise(authorization, query)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it.each([
    (size: number) => `a${' '.repeat(size)}b`,
    (size: number) => `AWS ${':'.repeat(size)} `,
    (size: number) => `${'a:'.repeat(size)} `,
  ])('reads long nonsense in linear time: %s', (nonsense) => {
    expectLinear(8000, (size) => expect(() => recognise(nonsense(size))).toThrow());
  });
});
