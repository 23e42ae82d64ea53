import { describe, expect, it } from 'vitest';
import { parseCredential, printScope, dialectOf } from '../../../../shared/signing/v4/credential-scope.ts';

const aws = dialectOf('AWS4-HMAC-SHA256')!;
const neutral = dialectOf('SVC4-HMAC-SHA256')!;
const parse = (text: string, dialect = aws) => parseCredential(text, dialect, 'AuthorizationHeaderMalformed');

describe('parseCredential', () => {
  it.each([
    ['AKID/20130524/us-east-1/s3/aws4_request', 'AKID', 'us-east-1'],
    ['project:user@customer/20130524/us-east-1/s3/aws4_request', 'project:user@customer', 'us-east-1'],
    ['a/b//c/20130524/us-east-1/s3/aws4_request', 'a/b//c', 'us-east-1'],
    ['20130524/us-east-1/s3/aws4_request/20130524/auto/s3/aws4_request', '20130524/us-east-1/s3/aws4_request', 'auto'],
    ['AKID/20130524//s3/aws4_request', 'AKID', ''],
  ])('takes %s apart from the right', (text, accessKeyId, region) => {
    expect(parse(text)).toEqual({ accessKeyId, date: '20130524', region, service: 's3', dialect: aws });
    expect(`${accessKeyId}/${printScope(parse(text))}`).toBe(text);
  });

  it('takes the neutral words', () => {
    expect(parse('AKID/20130524/r/svc/svc4_request', neutral).dialect).toBe(neutral);
  });

  it.each([
    '',
    'AKID',
    '20130524/us-east-1/s3/aws4_request',
    '/20130524/us-east-1/s3/aws4_request',
    'AKID/2013524/us-east-1/s3/aws4_request',
    'AKID/20130524T000000Z/us-east-1/s3/aws4_request',
    'AKID/20130524/us east/s3/aws4_request',
    'AKID/20130524/é/s3/aws4_request',
    'AKID/20130524/us-east-1/ec2/aws4_request',
    'AKID/20130524/us-east-1/s3/aws3_request',
    'AKID/20130524/us-east-1/svc/aws4_request',
    'AKID/20130524/us-east-1/s3/svc4_request',
    'AKID/20130524/us-east-1/svc/svc4_request',
    'AKID/20130524/us-east-1/s3/aws4_request/',
  ])('refuses %j', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'AuthorizationHeaderMalformed' }) as Error);
  });
});
