import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { readFormClaim, verifyFormSignature } from '../../../shared/signing/form-claim.ts';

const secret = 'secret';
const policy = Buffer.from('{"any":"policy"}').toString('base64');
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html */
function signatureV4(words: 'AWS4' | 'SVC4', service: string, terminator: string): string {
  return ['20261120', 'us-east-1', service, terminator, policy]
    .reduce<Buffer>(hmac, Buffer.from(words + secret))
    .toString('hex');
}

const v4 = {
  policy,
  'x-amz-algorithm': 'AWS4-HMAC-SHA256',
  'x-amz-credential': 'project:user@customer/x/20261120/us-east-1/s3/aws4_request',
  'x-amz-date': '20261120T101112Z',
  'x-amz-signature': signatureV4('AWS4', 's3', 'aws4_request'),
};

const v2 = {
  policy,
  AWSAccessKeyId: 'AKID',
  signature: createHmac('sha1', secret).update(policy).digest('base64'),
};

function verify(fields: Record<string, string | undefined>): unknown {
  const given = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  try {
    const claim = readFormClaim(new Fields(given));
    if (claim) verifyFormSignature(claim, secret);
    return claim;
  } catch (error) {
    return error;
  }
}

const refused = (code: string, rest: object = {}): unknown =>
  expect.objectContaining({ name: 'S3Error', code, ...rest });

describe('the signature of a form', () => {
  it('is one of version 4', () => {
    expect(verify(v4)).toMatchObject({ scheme: 'form-v4', accessKeyId: 'project:user@customer/x' });
  });

  it('is one of version 4 in the neutral words', () => {
    const neutral = {
      ...v4,
      'x-amz-algorithm': 'SVC4-HMAC-SHA256',
      'x-amz-credential': 'AKID/20261120/us-east-1/svc/svc4_request',
      'x-amz-signature': signatureV4('SVC4', 'svc', 'svc4_request'),
    };
    expect(verify(neutral)).toMatchObject({ scheme: 'form-v4', accessKeyId: 'AKID' });
    expect(verify({ ...neutral, 'x-amz-credential': 'AKID/20261120/us-east-1/s3/aws4_request' })).toEqual(
      refused('InvalidArgument'),
    );
    expect(verify({ ...neutral, 'x-amz-algorithm': 'AWS4-HMAC-SHA256' })).toEqual(refused('InvalidArgument'));
  });

  it.each(['AWSAccessKeyId', 'SVCAccessKeyId', 'awsaccesskeyid'])('is one of version 2, of %s', (name) => {
    expect(verify({ policy, signature: v2.signature, [name]: 'AKID' })).toMatchObject({
      scheme: 'form-v2',
      accessKeyId: 'AKID',
    });
  });

  it('is absent from an anonymous form', () => {
    expect(verify({ key: 'k', acl: 'private' })).toBeUndefined();
  });

  it.each([
    ['version 4', { ...v4, policy: `${policy}A` }],
    ['version 4, upper case', { ...v4, 'x-amz-signature': v4['x-amz-signature'].toUpperCase() }],
    ['version 4, shortened', { ...v4, 'x-amz-signature': v4['x-amz-signature'].slice(2) }],
    [
      'version 4, of another day',
      { ...v4, 'x-amz-credential': 'A/20261121/us-east-1/s3/aws4_request', 'x-amz-date': '20261121T000000Z' },
    ],
    ['version 4, of another region', { ...v4, 'x-amz-credential': 'A/20261120/eu-west-1/s3/aws4_request' }],
    ['version 2', { ...v2, policy: `${policy}A` }],
    ['version 2, shortened', { ...v2, signature: v2.signature.slice(4) }],
    ['version 2, nothing like one', { ...v2, signature: 'forged' }],
  ])('does not match if it is of something else: %s', (_, fields) => {
    expect(verify(fields)).toEqual(refused('SignatureDoesNotMatch'));
  });

  it('shows what should have been signed, and never the key', () => {
    const error = verify({ ...v2, signature: 'forged' }) as Error & { details: object };
    expect(error.details).toEqual({ AWSAccessKeyId: 'AKID', StringToSign: policy, SignatureProvided: 'forged' });
  });

  it.each([
    ['a policy that nobody signed', { policy }],
    ['a policy without a signature', { policy, AWSAccessKeyId: 'AKID' }],
    ['a policy without a key', { policy, signature: v2.signature }],
    ['an empty policy', { ...v2, policy: '' }],
    ['an empty key', { ...v2, AWSAccessKeyId: '' }],
    ['an empty signature', { ...v2, signature: '' }],
    ['credentials without a policy', { ...v2, policy: undefined }],
    ['a key alone', { AWSAccessKeyId: 'AKID' }],
    ['two keys', { ...v2, SVCAccessKeyId: 'AKID' }],
    ['both versions', { ...v2, ...v4 }],
    ['version 4 without a policy', { ...v4, policy: undefined }],
    ['version 4 without an algorithm', { ...v4, 'x-amz-algorithm': undefined }],
    ['version 4 without a credential', { ...v4, 'x-amz-credential': undefined }],
    ['version 4 without a date', { ...v4, 'x-amz-date': undefined }],
    ['version 4 without a signature', { ...v4, 'x-amz-signature': undefined }],
    ['an unknown algorithm', { ...v4, 'x-amz-algorithm': 'AWS3-HMAC-SHA256' }],
    ['a credential of too few pieces', { ...v4, 'x-amz-credential': 'AKID/20261120/us-east-1/s3' }],
    ['a credential for another service', { ...v4, 'x-amz-credential': 'AKID/20261120/us-east-1/ec2/aws4_request' }],
    ['a date that is none', { ...v4, 'x-amz-date': '2026-11-20T10:11:12Z' }],
    ['a date on another day', { ...v4, 'x-amz-date': '20261121T101112Z' }],
  ])('is an error if it is %s', (_, fields) => {
    expect(verify(fields)).toEqual(refused('InvalidArgument', { status: 400 }));
  });

  it('has a session token if it is signed', () => {
    expect(verify({ ...v4, 'x-amz-security-token': 'token' })).toMatchObject({ sessionToken: 'token' });
    expect(verify({ ...v2, 'x-amz-security-token': 'token' })).toMatchObject({ sessionToken: 'token' });
    expect(verify({ 'x-amz-security-token': 'token' })).toEqual(refused('InvalidToken'));
  });

  it('is not made with public keys', () => {
    expect(verify({ ...v4, 'x-amz-algorithm': 'AWS4-ECDSA-P256-SHA256' })).toEqual(refused('NotImplemented'));
  });
});
