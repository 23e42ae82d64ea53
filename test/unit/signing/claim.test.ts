import { describe, expect, it } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { checkRegion, refuseUnsignedHeaders, type SignatureClaim } from '../../../shared/signing/claim.ts';
import { dialectOf } from '../../../shared/signing/v4/credential-scope.ts';

const claim: SignatureClaim = {
  dialect: dialectOf('AWS4-HMAC-SHA256')!,
  accessKeyId: 'AKID',
  date: '20261120',
  service: 's3',
  region: 'auto',
  timestamp: '20261120T101112Z',
  signedHeaders: ['host', 'x-amz-date'],
  signature: '',
  payloadHash: 'UNSIGNED-PAYLOAD',
  malformed: 'AuthorizationHeaderMalformed',
};

const fields = (...names: string[]) => new Fields(names.map((name) => [name, 'value']));

describe('refuseUnsignedHeaders', () => {
  it('lets pass what gateways add and what is no business of S3', () => {
    const names = [
      'Host',
      'X-Amz-Date',
      'Content-Type',
      'Content-MD5',
      'Range',
      'If-Match',
      'X-Amzn-Trace-Id',
      'X-Amz-Cf-Id',
      'X-Amz-Request-Id',
    ];
    refuseUnsignedHeaders(claim, fields(...names));
  });

  it.each([
    'x-amz-acl',
    'x-amz-copy-source',
    'x-amz-tagging',
    'x-amz-meta-a',
    'x-amz-content-sha256',
    'x-amz-anything',
    'x-amz-',
  ])('refuses an unsigned %s', (name) => {
    expect(() =>
      refuseUnsignedHeaders(claim, fields('host', 'x-amz-date', name.toUpperCase(), 'content-type')),
    ).toThrow(
      expect.objectContaining({
        code: 'AccessDenied',
        status: 403,
        message: 'There were headers present in the request which were not signed',
        details: { HeadersNotSigned: name },
      }) as Error,
    );
  });

  it('names every one', () => {
    expect(() => refuseUnsignedHeaders(claim, fields('x-amz-b', 'x-amz-a', 'x-amz-b'))).toThrow(
      expect.objectContaining({ details: { HeadersNotSigned: 'x-amz-b, x-amz-a' } }) as Error,
    );
  });

  it('demands a signed host, sent or not', () => {
    for (const sent of [fields('host'), fields()]) {
      expect(() => refuseUnsignedHeaders({ ...claim, signedHeaders: ['x-amz-date'] }, sent)).toThrow(
        expect.objectContaining({ details: { HeadersNotSigned: 'host' } }) as Error,
      );
    }
  });
});

describe('checkRegion', () => {
  it('names the region to go to', () => {
    checkRegion(claim, 'auto');
    expect(() => checkRegion(claim, 'us-east-1')).toThrow(
      expect.objectContaining({ code: 'AuthorizationHeaderMalformed', details: { Region: 'us-east-1' } }) as Error,
    );
    expect(() => checkRegion({ ...claim, malformed: 'AuthorizationQueryParametersError' }, 'us-east-1')).toThrow(
      expect.objectContaining({ code: 'AuthorizationQueryParametersError', details: { Region: 'us-east-1' } }) as Error,
    );
  });
});
