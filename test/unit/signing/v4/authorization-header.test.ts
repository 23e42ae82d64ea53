import { describe, expect, it } from 'vitest';
import { Fields } from '../../../../shared/http/message.ts';
import { readAuthorizationHeader } from '../../../../shared/signing/v4/authorization-header.ts';
import { timingAt } from '../timing.ts';

const signature = '0123456789abcdef'.repeat(4);
const credential = 'AKID/20261120/us-east-1/s3/aws4_request';
const whole = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host;x-amz-date, Signature=${signature}`;
const timing = timingAt(Date.UTC(2026, 10, 20, 10, 11, 12));

function read(authorization: string, headers: Record<string, string> = {}) {
  const all = {
    'x-amz-date': '20261120T101112Z',
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    authorization,
    ...headers,
  };
  return readAuthorizationHeader(new Fields(Object.entries(all).filter(([, value]) => value !== 'none')), timing);
}

const refusal = (code: string, rest: object = {}) => expect.objectContaining({ code, ...rest }) as Error;

describe('readAuthorizationHeader', () => {
  it.each([
    whole,
    whole.replaceAll(', ', ','),
    whole.replaceAll(', ', ' ,  '),
    whole.replace(' ', '   '),
    ` ${whole} `,
    `AWS4-HMAC-SHA256 Signature=${signature},Credential=${credential},SignedHeaders=host;x-amz-date`,
  ])('reads %j', (authorization) => {
    expect(read(authorization)).toMatchObject({
      accessKeyId: 'AKID',
      date: '20261120',
      region: 'us-east-1',
      signedHeaders: ['host', 'x-amz-date'],
      signature,
      timestamp: '20261120T101112Z',
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
  });

  it.each([
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 nonsense',
    whole.replace('Credential=', ''),
    whole.replace(/, Signature=.*/, ''),
    whole.replace('SignedHeaders=', 'signedheaders='),
    `${whole}, Signature=${signature}`,
    `${whole}, More=1`,
    whole.replace(', Sig', ' Sig'),
    whole.replace(signature, ''),
    whole.replace(signature, signature.slice(1)),
    whole.replace(signature, `${signature}0`),
    whole.replace(signature, signature.toUpperCase()),
    whole.replace(signature, signature.replace('0', 'g')),
    whole.replace('host;x-amz-date', ''),
    whole.replace('host;x-amz-date', 'Host;X-Amz-Date'),
    whole.replace('host;x-amz-date', 'host;;x-amz-date'),
    whole.replace('host;x-amz-date', 'host; x-amz-date'),
    whole.replace('host;', 'höst;'),
    whole.replace('s3/', 'svc/'),
    whole.replace('aws4_request', 'svc4_request'),
    whole.replace('20261120', '20261119'),
    whole.replace('20261120', 'yesterday'),
    whole.replace('AKID', ''),
    `${whole}\u00a0`,
    whole.replace('AKID', 'ÄKID'),
  ])('answers AuthorizationHeaderMalformed to %j', (authorization) => {
    expect(() => read(authorization)).toThrow(refusal('AuthorizationHeaderMalformed', { status: 400 }));
  });

  it('takes the time from Date if there is no x-amz-date, and signs it in the basic form', () => {
    const date = 'Fri, 20 Nov 2026 10:11:12 GMT';
    expect(read(whole, { 'x-amz-date': 'none', date }).timestamp).toBe('20261120T101112Z');
    expect(read(whole, { 'x-amz-date': 'none', date: '20261120T101112Z' }).timestamp).toBe('20261120T101112Z');
    expect(read(whole, { date: 'Fri, 20 Nov 2020 10:11:12 GMT' }).timestamp).toBe('20261120T101112Z');
  });

  it.each<Record<string, string>>([
    { 'x-amz-date': 'none' },
    { 'x-amz-date': 'none', date: '' },
    { 'x-amz-date': 'none', date: 'nonsense' },
    { 'x-amz-date': '' },
    { 'x-amz-date': 'nonsense', date: 'Fri, 20 Nov 2026 10:11:12 GMT' },
    { 'x-amz-date': '2026-11-20T10:11:12Z' },
    { 'x-amz-date': 'Fri, 20 Nov 2026 10:11:12 GMT' },
    { 'x-amz-date': '20261120T101112Z,20261120T101112Z' },
  ])('answers AccessDenied to the dates %j', (headers) => {
    expect(() => read(whole, headers)).toThrow(refusal('AccessDenied', { status: 403 }));
  });

  it.each(['20261120T095612Z', '20261120T102612Z'])('accepts %s, a clock that is off by fifteen minutes', (date) => {
    expect(read(whole, { 'x-amz-date': date }).timestamp).toBe(date);
  });

  it.each(['20261120T095611Z', '20261120T102613Z', '20261120T235959Z'])(
    'answers RequestTimeTooSkewed to %s',
    (date) => {
      expect(() => read(whole, { 'x-amz-date': date })).toThrow(
        refusal('RequestTimeTooSkewed', {
          status: 403,
          details: { RequestTime: date, ServerTime: '2026-11-20T10:11:12Z', MaxAllowedSkewMilliseconds: '900000' },
        }),
      );
    },
  );

  it('demands x-amz-content-sha256', () => {
    expect(() => read(whole, { 'x-amz-content-sha256': 'none' })).toThrow(
      refusal('InvalidRequest', {
        status: 400,
        message: 'Missing required header for this request: x-amz-content-sha256',
      }),
    );
  });
});
