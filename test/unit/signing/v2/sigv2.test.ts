import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { resolveTarget } from '../../../../shared/http/address.ts';
import type { RequestMessage } from '../../../../shared/http/message.ts';
import { routes, type Route } from '../../../../shared/protocol/operation-table.ts';
import { readV2Header, readV2Query } from '../../../../shared/signing/v2/sigv2-claim.ts';
import { isSignedByV2 } from '../../../../shared/signing/v2/sigv2-resource.ts';
import { equalsBase64, stringsToSign, verifyV2Signature } from '../../../../shared/signing/v2/sigv2.ts';
import type { RawRequest } from '../../../support/clients/raw-client.ts';
import type { Unsigned } from '../../../support/clients/signer.ts';
import { presignedV2, signedV2, stringToSignV2, type HeaderSigningV2 } from '../../../support/clients/signer-v2.ts';
import { runs } from '../../../support/runs/runs.ts';
import { message } from '../reference-signer.ts';
import { timingAt } from '../timing.ts';

const key = { accessKeyId: 'project:user@customer', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const host = 's3.amazonaws.com';
const date = 'Fri, 20 Nov 2026 10:11:12 GMT';
const now = Date.parse(date);
const timing = timingAt(now);
const names = { domain: host, websiteDomain: 's3-website.amazonaws.com' };

const asReceived = ({ method, target, headers }: RawRequest): RequestMessage => message(method, target, headers);
const targetOf = (request: RequestMessage) => resolveTarget(request.target, request.fields.get('host'), names);

function verify(sent: RawRequest): void {
  const request = asReceived(sent);
  const target = targetOf(request);
  const claim = request.fields.has('authorization')
    ? readV2Header(request.fields, timing)
    : readV2Query(target.query, timing);
  verifyV2Signature(request, target, claim, key.secretAccessKey);
}

const sign = (unsigned: Partial<Unsigned>, signing: Partial<HeaderSigningV2> = {}): RawRequest =>
  signedV2(host, { path: '/bucket/key', ...unsigned }, { key, date, ...signing });

const presign = (unsigned: Partial<Unsigned> = {}): RawRequest =>
  presignedV2(host, { path: '/bucket/key', ...unsigned }, { key, expires: String(now / 1000 + 60) });

const refused = (code: string, rest: object = {}) => expect.objectContaining({ code, ...rest }) as Error;
const mismatch = refused('SignatureDoesNotMatch', { status: 403 });

describe('the examples of the documentation', () => {
  const at = (time: string) => Date.parse(time);
  const upload = {
    'User-Agent': 'curl/7.15.5',
    'x-amz-acl': 'public-read',
    'content-type': 'application/x-download',
    'Content-MD5': '4gJE4saaMU4BqNR0kLY+lw==',
    'X-Amz-Meta-FileChecksum': '0x02661779',
    'X-Amz-Meta-ChecksumAlgorithm': 'crc32',
    'Content-Disposition': 'attachment; filename=database.dat',
    'Content-Encoding': 'gzip',
    'Content-Length': '5913339',
  };
  const reviewers: [string, string][] = [
    ['X-Amz-Meta-ReviewedBy', 'joe@johnsmith.net'],
    ['X-Amz-Meta-ReviewedBy', 'jane@johnsmith.net'],
  ];

  it.each<[string, string, string, string, Record<string, string>, string, [string, string][]?]>([
    [
      'object GET',
      'GET',
      'johnsmith.s3.amazonaws.com',
      '/photos/puppy.jpg',
      { Date: 'Tue, 27 Mar 2007 19:36:42 +0000' },
      'bWq2s1WEIj+Ydj0vQ697zp+IXMU=',
    ],
    [
      'object GET',
      'GET',
      'awsexamplebucket1.s3.amazonaws.com',
      '/photos/puppy.jpg',
      { Date: 'Tue, 27 Mar 2007 19:36:42 +0000' },
      'qgk2+6Sv9/oM7G3qLEjTH1a1l1g=',
    ],
    [
      'object PUT',
      'PUT',
      'johnsmith.s3.amazonaws.com',
      '/photos/puppy.jpg',
      { 'Content-Type': 'image/jpeg', 'Content-Length': '94328', Date: 'Tue, 27 Mar 2007 21:15:45 +0000' },
      'MyyxeRY7whkBe+bq8fHCL/2kKUg=',
    ],
    [
      'list',
      'GET',
      'johnsmith.s3.amazonaws.com',
      '/?prefix=photos&max-keys=50&marker=puppy',
      { 'User-Agent': 'Mozilla/5.0', Date: 'Tue, 27 Mar 2007 19:42:41 +0000' },
      'htDYFYduRNen8P9ZfE/s9SuKy0U=',
    ],
    [
      'fetch',
      'GET',
      'johnsmith.s3.amazonaws.com',
      '/?acl',
      { Date: 'Tue, 27 Mar 2007 19:44:46 +0000' },
      'c2WLPFtWHVgbEmeEG93a4cG37dM=',
    ],
    [
      'DELETE',
      'DELETE',
      's3.amazonaws.com',
      '/johnsmith/photos/puppy.jpg',
      { 'User-Agent': 'dotnet', Date: 'Tue, 27 Mar 2007 21:20:26 +0000' },
      'lx3byBScXR6KzyMaifNkardMwNk=',
    ],
    [
      'upload',
      'PUT',
      'static.johnsmith.net.s3.amazonaws.com',
      '/db-backup.dat.gz',
      { Date: 'Tue, 27 Mar 2007 21:06:08 +0000', ...upload },
      'ilyl83RwaSoYIEdixDQcA4OnAnc=',
      reviewers,
    ],
    [
      'list all my buckets',
      'GET',
      's3.amazonaws.com',
      '/',
      { Date: 'Wed, 28 Mar 2007 01:29:59 +0000' },
      'qGdzdERIC03wnaRNKh6OqZehG9s=',
    ],
    [
      'Unicode keys',
      'GET',
      's3.amazonaws.com',
      '/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re',
      { Date: 'Wed, 28 Mar 2007 01:49:49 +0000' },
      'DNEZGsoieTZ92F3bUfSPQcbGmlM=',
    ],
  ])('hold: %s', (_, method, hostName, path, headers, signature, more = []) => {
    const fields: [string, string][] = [
      ['Host', hostName],
      ...Object.entries(headers),
      ...more,
      ['Authorization', `AWS AKIAIOSFODNN7EXAMPLE:${signature}`],
    ];
    const request = message(method, path, fields);
    const claim = readV2Header(request.fields, timingAt(at(headers['Date']!)));
    expect(claim.accessKeyId).toBe('AKIAIOSFODNN7EXAMPLE');
    verifyV2Signature(request, targetOf(request), claim, key.secretAccessKey);
  });

  it('hold: a request in the query', () => {
    const query = 'Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620&AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE';
    const request = message('GET', `/photos/puppy.jpg?${query}`, [['Host', 'johnsmith.s3.amazonaws.com']]);
    const target = targetOf(request);
    const claim = readV2Query(target.query, timingAt(1175139620_000));
    verifyV2Signature(request, target, claim, key.secretAccessKey);
    expect(() => readV2Query(target.query, timingAt(1175139620_001))).toThrow(refused('AccessDenied'));
  });
});

describe('a signature of version 2', () => {
  it.each(['AWS ', 'SVC ', ''] as const)('may follow the word %j', (word) => {
    verify(sign({}, { word }));
    expect(readV2Header(asReceived(sign({}, { word })).fields, timing).accessKeyId).toBe('project:user@customer');
  });

  it('holds for any key, sub-resources and metadata', () => {
    const name = fc.constantFrom('acl', 'versionId', 'uploadId', 'response-content-type', 'prefix', 'x-id', 'tagging');
    const value = fc.string({ unit: fc.constantFrom(...'ab /+&=%é😀~'), maxLength: 8 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."ab/.%+ &=~!*'()😀é"), maxLength: 12 }),
        fc.uniqueArray(fc.tuple(name, value), { maxLength: 4, selector: ([one]) => one }),
        fc.stringMatching(/^[ -~]{0,20}$/),
        (objectKey, query, meta) => {
          const path = `/bucket/${encodeURIComponent(objectKey).replaceAll('%2F', '/')}`;
          const raw = query.map(([one, text]) => (text === '' ? one : `${one}=${encodeURIComponent(text)}`)).join('&');
          const unsigned = { method: 'PUT', path, query: raw, headers: { 'x-amz-meta-a': meta } };
          verify(sign(unsigned));
          verify(presign(unsigned));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('is of everything it signs, whatever is changed', () => {
    const unsigned = {
      method: 'PUT',
      query: 'versionId=a&response-expires=b&prefix=c',
      headers: { 'content-type': 'text/plain', 'content-md5': 'bQ==', 'x-amz-acl': 'private', range: 'bytes=0-1' },
    };
    for (const request of [sign(unsigned), presign(unsigned)]) {
      verify(request);
      const changed: RawRequest[] = [
        { ...request, method: 'DELETE' },
        { ...request, target: request.target.replace('/key', '/kez') },
        { ...request, target: request.target.replace('/key', '//key') },
        { ...request, target: request.target.replace('versionId=a', 'versionId=b') },
        { ...request, target: request.target.replace('versionId=a&', '') },
        { ...request, target: request.target.replace('response-expires=b', 'response-expires=c') },
        ...['acl', 'uploadId=x', 'tagging', 'partNumber=1', 'response-content-type=text/html', 'versionId=a'].map(
          (more) => ({
            ...request,
            target: `${request.target}&${more}`,
          }),
        ),
        ...['content-type', 'content-md5', 'x-amz-acl'].flatMap((name) => [
          { ...request, headers: request.headers.filter(([one]) => one !== name) },
          {
            ...request,
            headers: request.headers.map(([one, text]) => [one, one === name ? `${text}x` : text] as const),
          },
        ]),
        ...['x-amz-copy-source', 'x-amz-tagging', 'x-amz-meta-a', 'x-amz-'].map((name) => ({
          ...request,
          headers: [...request.headers, [name, 'added'] as const],
        })),
      ];
      for (const [at, one] of changed.entries()) {
        expect(() => verify(one), `${String(at)}: ${one.target}`).toThrow(mismatch);
      }
    }
  });

  it('is not of the rest of the query, of the host and of other headers', () => {
    const request = sign({ query: 'prefix=a' });
    verify({ ...request, target: '/bucket/key?prefix=b&x-id=GetObject&max-keys=1' });
    verify({ ...request, headers: [...request.headers, ['range', 'bytes=0-1']] });
    verify({
      ...request,
      headers: request.headers.map(([name, value]) => [name, name === 'host' ? 'elsewhere' : value]),
    });
  });

  it('takes the bucket of the host for that of the path', () => {
    const inHost = signedV2(`bucket.${host}`, { path: '/key' }, { key, date, bucket: 'bucket' });
    verify(inHost);
    expect(inHost.headers.at(-1)).toEqual(sign({}).headers.at(-1));
    verify(signedV2(`bucket.${host}`, { path: '/', query: 'acl' }, { key, date, bucket: 'bucket' }));
    expect(() => verify(signedV2(`bucket.${host}`, { path: '/key' }, { key, date }))).toThrow(mismatch);
  });

  it('takes a bucket with the slash at its end, and without', () => {
    for (const resource of ['/bucket', '/bucket/']) verify(sign({ path: '/bucket' }, { resource }));
    expect(() => verify(sign({ path: '/bucket/' }, { resource: '/bucket' }))).toThrow(mismatch);
    expect(() => verify(sign({}, { resource: '/bucket/key/' }))).toThrow(mismatch);
  });

  it('follows the names of sub-resources, in whatever order they are sent', () => {
    const signed = sign({ query: 'uploadId=u&partNumber=2' }, { resource: '/bucket/key?partNumber=2&uploadId=u' });
    verify(signed);
    verify({ ...signed, target: '/bucket/key?x-id=UploadPart&partNumber=2&uploadId=u' });
    expect(() =>
      verify(sign({ query: 'uploadId=u&partNumber=2' }, { resource: '/bucket/key?uploadId=u&partNumber=2' })),
    ).toThrow(mismatch);
  });

  it('takes values decoded, and those of sub-resources as they were sent, too', () => {
    const query = 'versionId=a%2Bb&response-content-disposition=attachment%3B%20filename%3D%22%C3%A9%22';
    const decoded = 'response-content-disposition=attachment; filename="é"';
    verify(sign({ query }, { resource: `/bucket/key?${decoded}&versionId=a+b` }));
    verify(sign({ query }, { resource: `/bucket/key?${decoded}&versionId=a%2Bb` }));
    expect(() => verify(sign({ query }, { resource: `/bucket/key?${query}` }))).toThrow(mismatch);
  });

  it('takes an empty value with its equals sign, and without', () => {
    for (const query of ['acl', 'acl=']) {
      for (const resource of ['/bucket/key?acl', '/bucket/key?acl=']) verify(sign({ query }, { resource }));
    }
  });

  it('takes a path as it was sent, and as it should have been', () => {
    verify(sign({ path: "/bucket/a!'()*%7e" }));
    verify(sign({ path: '/bucket/a!%7e' }, { resource: '/bucket/a%21~' }));
    const honest = sign({});
    expect(() => verify({ ...honest, target: '/bucket/\u016bey' })).toThrow(mismatch);
  });

  it('joins repeated headers, and makes one blank of many, or leaves them', () => {
    const text = (value: string) => `GET\n\n\n${date}\nx-amz-meta-a:${value}\nx-amz-meta-b:2\n/bucket/key`;
    const fields: [string, string][] = [
      ['X-Amz-Meta-B', '2'],
      ['X-AMZ-Meta-A', '  one \t two'],
      ['Date', date],
      ['x-amz-meta-a', 'three '],
      ['x-amz-request-id', 'of a gateway'],
    ];
    const request = message('GET', '/bucket/key', fields);
    expect(stringsToSign(request, targetOf(request), { accessKeyId: '', signature: '', dateLine: date })).toEqual([
      text('one two,three'),
      text('one \t two,three'),
    ]);
  });

  it('signs bytes as they are', () => {
    const bytes = Buffer.from('é😀').toString('latin1');
    const request = message('GET', '/bucket/key', [['x-amz-meta-a', bytes]]);
    const claim = { accessKeyId: '', signature: '', dateLine: '' };
    const [text] = stringsToSign(request, targetOf(request), claim);
    expect(Buffer.from(text!, 'latin1').toString()).toBe('GET\n\n\n\nx-amz-meta-a:é😀\n/bucket/key');
  });

  it('that does not hold tells what it should be of, and nothing secret', () => {
    const headers = { 'x-amz-server-side-encryption-customer-key': 'c2VjcmV0' };
    const request = sign({ headers });
    try {
      verify({ ...request, method: 'PUT' });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(S3Error);
      const { details } = error as S3Error;
      expect(details).toEqual({
        AWSAccessKeyId: key.accessKeyId,
        SignatureProvided: request.headers.at(-1)![1].split(':').at(-1),
        StringToSign: stringToSignV2({ method: 'PUT', path: '/bucket/key' }, request.headers, date, {}).replace(
          'c2VjcmV0',
          '…',
        ),
      });
    }
  });

  it('is compared as a whole', () => {
    const bytes = Buffer.alloc(20, 7);
    const text = bytes.toString('base64');
    expect(equalsBase64(bytes, text)).toBe(true);
    for (const other of ['', text.slice(1), `${text}=`, ` ${text}`, text.replace('B', 'b'), `${text.slice(0, -2)}d=`]) {
      expect(equalsBase64(bytes, other), other).toBe(false);
    }
  });
});

describe('the date of a signed header', () => {
  const read = (headers: Record<string, string>) =>
    readV2Header(message('GET', '/', Object.entries({ authorization: 'AWS AKID:c2ln', ...headers })).fields, timing);

  it('stands in the line of the date, unless x-amz-date is there', () => {
    expect(read({ date }).dateLine).toBe(date);
    expect(read({ date: 'nonsense', 'x-amz-date': date }).dateLine).toBe('');
    expect(read({ 'x-amz-date': '20261120T101112Z' }).dateLine).toBe('');
  });

  it.each<Record<string, string>>([
    {},
    { date: '' },
    { date: 'Bad Date' },
    { date: '1795169472' },
    { date, 'x-amz-date': '' },
    { date, 'x-amz-date': 'Bad Date' },
    { 'x-amz-date': 'Tue, 07 Jul 1950 21:53:04 GMT' },
    { date: 'Tue, 07 Jul 1950 21:53:04 GMT' },
  ])('is refused: %j', (headers) => {
    expect(() => read(headers)).toThrow(refused('AccessDenied', { status: 403 }));
  });

  it.each<Record<string, string>>([
    { date: new Date(now - 900_001).toUTCString() },
    { date: new Date(now + 901_000).toUTCString() },
    { date, 'x-amz-date': 'Tue, 07 Jul 2010 21:53:04 GMT' },
    { 'x-amz-date': 'Tue, 07 Jul 2030 21:53:04 GMT' },
  ])('is too far off: %j', (headers) => {
    expect(() => read(headers)).toThrow(refused('RequestTimeTooSkewed', { status: 403 }));
  });

  it('may be off by a quarter of an hour', () => {
    for (const off of [-900_000, 900_000]) read({ date: new Date(now + off).toUTCString() });
  });
});

describe('a presigned URL of version 2', () => {
  const read = (query: string) => readV2Query(resolveTarget(`/bucket/key?${query}`, host, names).query, timing);
  const end = now / 1000;

  it('names its key in either spelling, and its parameters in any case', () => {
    verify(presign());
    expect(read(`SVCAccessKeyId=a%3Ab&expires=${end}&SIGNATURE=x`)).toEqual({
      accessKeyId: 'a:b',
      signature: 'x',
      dateLine: String(end),
    });
  });

  it('may leave the plus of its signature bare', () => {
    expect(read(`AWSAccessKeyId=a&Expires=${end}&Signature=a+b%2Bc=`).signature).toBe('a+b+c=');
  });

  it.each([
    'AWSAccessKeyId=a&Expires=2000000000',
    'AWSAccessKeyId=a&Signature=x',
    'Signature=x&Expires=2000000000',
    'AWSAccessKeyId=&Expires=2000000000&Signature=x',
    'AWSAccessKeyId=a&Expires=2000000000&Signature=',
    'AWSAccessKeyId=a&Expires=2000000000&Signature=x&Signature=y',
    'AWSAccessKeyId=a&Expires=2000000000&Expires=1&Signature=x',
  ])('is incomplete: %s', (query) => {
    expect(() => read(query)).toThrow(refused('AccessDenied', { status: 403 }));
  });

  it('names one key', () => {
    for (const query of ['AWSAccessKeyId=a&SVCAccessKeyId=a', 'AWSAccessKeyId=a&AWSAccessKeyId=b']) {
      expect(() => read(`${query}&Expires=${end}&Signature=x`)).toThrow(refused('InvalidArgument', { status: 400 }));
    }
  });

  it.each([
    '',
    '0',
    '-1',
    '-2000000000',
    'NaN',
    'Infinity',
    '1e10',
    '2000000000.5',
    '0x77359400',
    '2000000000000',
    '9'.repeat(30),
    '%202000000000',
    '20%0A',
  ])('is not good until %s', (expires) => {
    expect(() => read(`AWSAccessKeyId=a&Expires=${expires}&Signature=x`)).toThrow(
      refused('AccessDenied', { status: 403 }),
    );
  });

  it('is good until it expires', () => {
    read(`AWSAccessKeyId=a&Expires=${end}&Signature=x`);
    expect(() => read(`AWSAccessKeyId=a&Expires=${end - 1}&Signature=x`)).toThrow(
      refused('AccessDenied', { message: 'Request has expired' }),
    );
  });

  it('is not good yet if it expires later than its longest lifetime from now', () => {
    const longest = (timing.longestLifetime + timing.allowedSkew) / 1000;
    read(`AWSAccessKeyId=a&Expires=${Math.floor(end + longest)}&Signature=x`);
    for (const expires of [Math.floor(end + longest) + 1, 9999999999]) {
      expect(() => read(`AWSAccessKeyId=a&Expires=${expires}&Signature=x`)).toThrow(
        refused('AccessDenied', { message: 'Expires must be at most 604800 seconds from now.' }),
      );
    }
  });

  it('signs the time it expires', () => {
    const request = presign();
    expect(() => verify({ ...request, target: request.target.replace(/Expires=\d+/, `Expires=${end + 61}`) })).toThrow(
      mismatch,
    );
  });
});

describe('what version 2 signs of the query', () => {
  it('is every sub-resource that S3 had at the time, and none since', () => {
    const all: readonly Route[] = routes;
    const named = new Set(all.flatMap(({ query }) => query ?? []));
    expect([...named].filter((name) => !isSignedByV2(name)).sort()).toEqual([
      'abac',
      'account',
      'alarm',
      'alarm-history',
      'alarms',
      'append',
      'attributes',
      'encryption',
      'event-deliveries',
      'intelligent-tiering',
      'legal-hold',
      'metadataConfiguration',
      'metadataInventoryTable',
      'metadataJournalTable',
      'metadataTable',
      'metric-data',
      'monitoring',
      'ownershipControls',
      'policyStatus',
      'public-link',
      'publicAccessBlock',
      'quota',
      'renameObject',
      'retention',
      'session',
      'webhook',
      'webhook-secret',
      'webhook-test',
      'webhooks',
    ]);
    for (const name of ['versionId', 'uploadId', 'partNumber', 'response-content-type']) {
      expect(isSignedByV2(name)).toBe(true);
    }
    for (const name of ['ACL', 'prefix', 'list-type', 'x-id']) expect(isSignedByV2(name)).toBe(false);
  });
});
