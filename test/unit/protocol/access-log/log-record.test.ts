import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logLine, type LogRecord } from '../../../../shared/protocol/access-log/log-record.ts';
import { fieldsOf } from '../../../support/clients/access-log.ts';

/** The second example of https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html, with our unknown source region. */
const documented =
  '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 891CE47D2EXAMPLE REST.GET.LOGGING_STATUS - "GET /amzn-s3-demo-bucket1?logging HTTP/1.1" 200 - 242 - 11 - "-" "S3Console/0.4" - 9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5XLnCtZNPxev+Hf+7tpT6sxDwDty4LHBUOZJG96N1234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 - - -\n';

const owner = '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be';
const record: LogRecord = {
  bucketOwner: owner,
  bucket: 'amzn-s3-demo-bucket1',
  time: Date.UTC(2019, 1, 6, 0, 0, 38, 999),
  remoteAddress: '192.0.2.3',
  requester: owner,
  requestId: '891CE47D2EXAMPLE',
  operation: 'REST.GET.LOGGING_STATUS',
  key: undefined,
  requestLine: 'GET /amzn-s3-demo-bucket1?logging HTTP/1.1',
  status: 200,
  errorCode: undefined,
  bytesSent: 242,
  objectSize: undefined,
  totalMilliseconds: 11,
  turnAroundMilliseconds: undefined,
  referer: undefined,
  userAgent: 'S3Console/0.4',
  versionId: undefined,
  hostId: '9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5XLnCtZNPxev+Hf+7tpT6sxDwDty4LHBUOZJG96N1234=',
  signatureVersion: 'SigV4',
  cipher: 'ECDHE-RSA-AES128-GCM-SHA256',
  authenticationType: 'AuthHeader',
  host: 'amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com',
  tls: 'TLSV1.2',
  aclRequired: false,
};

describe('a record', () => {
  it('is what AWS documents', () => {
    expect(logLine(record, { sourceRegion: true })).toBe(documented);
  });

  it('has 27 fields, or 26 without the source region', () => {
    expect(fieldsOf(logLine(record, { sourceRegion: true }))).toHaveLength(27);
    expect(fieldsOf(logLine(record, { sourceRegion: false }))).toHaveLength(26);
  });

  it('says - where nothing was sent, and 0 where a size is 0', () => {
    const fields = fieldsOf(logLine({ ...record, bytesSent: 0, objectSize: 0 }, { sourceRegion: true }));
    expect(fields.slice(11, 13)).toEqual(['-', '0']);
  });

  it('is one line of the same fields, whatever clients send', () => {
    const texts = ['referer', 'userAgent', 'requestLine', 'key', 'versionId', 'host', 'requester', 'bucket'] as const;
    const text = fc.string({
      unit: fc.constantFrom('"', '\\', '\n', '\r', ' ', '\t', '\0', '\u2028', 'ü', '😀', 'a', '['),
    });
    fc.assert(
      fc.property(fc.record(Object.fromEntries(texts.map((name) => [name, text]))), (given) => {
        const line = logLine({ ...record, ...given }, { sourceRegion: true });
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(line).toMatch(/^[ -~]*\n$/);
        const fields = fieldsOf(line);
        expect(fields).toHaveLength(27);
        expect(fields[9]).toBe('200');
        expect(fields[26]).toBe('-');
      }),
    );
  });

  it('keeps the spaces of what is in quotes, and encodes the rest', () => {
    const fields = fieldsOf(
      logLine({ ...record, userAgent: 'a "b" \\ c\xc3\xbc', host: 'a b' }, { sourceRegion: true }),
    );
    expect(fields[16]).toBe('a %22b%22 %5C c%C3%BC');
    expect(fields[22]).toBe('a%20b');
  });
});
