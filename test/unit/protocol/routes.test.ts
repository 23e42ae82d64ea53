import { describe, expect, it } from 'vitest';
import { operations } from '../../../functions/operations.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { resolveTarget } from '../../../shared/http/address.ts';
import { Fields } from '../../../shared/http/message.ts';
import { findRoute, specificity } from '../../../shared/protocol/routes.ts';
import { routes, type Route } from '../../../shared/protocol/operation-table.ts';

const names = { domain: 'example.test', websiteDomain: 'web.example.test' };

const scoped = (service: string): string =>
  `AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=00`;

function route(line: string, headers: Record<string, string> = {}, host = 'example.test'): string {
  const [method, target] = line.split(' ') as [string, string];
  const { address, query } = resolveTarget(target, host, names);
  try {
    return findRoute(address, method, query, new Fields(Object.entries(headers)));
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

describe('the route table', () => {
  it.each([
    ['GET /', 'ListBuckets'],
    ['GET /?x-id=ListBuckets', 'ListBuckets'],
    ['GET /?account', 'GetAccount'],
    ['PUT /?webhook&name=a', 'PutWebhook'],
    ['GET /?webhooks', 'ListWebhooks'],
    ['POST /?webhook-test&name=a', 'TestWebhook'],
    ['POST /bucket?event-deliveries', 'ReplayEvents'],
    ['GET /b?quota', 'GetBucketQuota'],
    ['PUT /b', 'CreateBucket'],
    ['PUT /b/', 'CreateBucket'],
    ['HEAD /b', 'HeadBucket'],
    ['DELETE /b', 'DeleteBucket'],
    ['GET /b', 'ListObjects'],
    ['GET /b?list-type=2', 'ListObjectsV2'],
    ['GET /b/?list-type=2&prefix=a', 'ListObjectsV2'],
    ['GET /b?list-type=1', 'ListObjects'],
    ['GET /b?versions', 'ListObjectVersions'],
    ['GET /b?versions&list-type=2', 'ListObjectVersions'],
    ['GET /b?location', 'GetBucketLocation'],
    ['GET /b?acl=', 'GetBucketAcl'],
    ['POST /b?delete', 'DeleteObjects'],
    ['POST /b', 'PostObject'],
    ['GET /b?uploads', 'ListMultipartUploads'],
    ['PUT /b/k', 'PutObject'],
    ['PUT /b/k?x-id=PutObject', 'PutObject'],
    ['PUT /b/k?tagging=null', 'PutObjectTagging'],
    ['GET /b/k', 'GetObject'],
    ['GET /b/k?versionId=x', 'GetObject'],
    ['GET /b/k?partNumber=1', 'GetObject'],
    ['GET /b/k?attributes', 'GetObjectAttributes'],
    ['HEAD /b/k', 'HeadObject'],
    ['DELETE /b/k?versionId=x', 'DeleteObject'],
    ['DELETE /b/k?tagging&versionId=x', 'DeleteObjectTagging'],
    ['POST /b/k?uploads', 'CreateMultipartUpload'],
    ['PUT /b/k?partNumber=1&uploadId=u', 'UploadPart'],
    ['PUT /b/k?uploadId=u', 'UploadPart'],
    ['POST /b/k?uploadId=u', 'CompleteMultipartUpload'],
    ['DELETE /b/k?uploadId=u', 'AbortMultipartUpload'],
    ['GET /b/k?uploadId=u', 'ListParts'],
    ['PUT /b/k?renameObject', 'RenameObject'],
    ['OPTIONS /b/k', 'Preflight'],
    ['OPTIONS /', 'Preflight'],
    ['OPTIONS /b?uploads', 'Preflight'],
    ['OPTIONS /b/k?tagging&acl', 'Preflight'],
    ['OPTIONS /b/k?partNumber=1&uploadId=x', 'Preflight'],
    ['GET /b?metrics&id=1', 'GetBucketMetricsConfiguration'],
    ['GET /b?metric-data', 'GetMetricData'],
    ['GET /_stillage/health', 'GetHealth'],
    ['HEAD /_stillage/live', 'GetLiveness'],
    ['GET /_public/abc', 'GetPublicLink'],
  ])('%s is %s', (line, operation) => {
    expect(route(line)).toBe(operation);
  });

  it('tells copies from uploads by the header', () => {
    const source = { 'x-amz-copy-source': '/b/k' };
    expect(route('PUT /b/k', source)).toBe('CopyObject');
    expect(route('PUT /b/k?partNumber=1&uploadId=u', source)).toBe('UploadPartCopy');
    expect(route('PUT /b/k?tagging', source)).toBe('PutObjectTagging');
  });

  it('knows buckets and websites by the host', () => {
    expect(route('GET /k', {}, 'b.example.test:443')).toBe('GetObject');
    expect(route('GET /?list-type=2', {}, 'my.b.example.test')).toBe('ListObjectsV2');
    expect(route('GET /k', {}, 'b.web.example.test')).toBe('GetWebsitePage');
    expect(route('GET /k', {}, '127.0.0.1')).toBe('ListObjects');
  });

  it.each([
    'PUT /b/k?acl&tagging',
    'GET /b?acl&policy',
    'GET /b?versions&uploads',
    'PUT /b/k?uploads&uploadId=u',
    'GET /b?alarm&alarms',
  ])('refuses two sub-resources: %s', (line) => {
    expect(route(line)).toBe('InvalidArgument');
  });

  it.each([
    'POST /',
    'PATCH /b',
    'BREW /b/k',
    'PUT /b?delete',
    'POST /b?acl',
    'PUT /b/k?lifecycle',
    'PUT /b/k?versioning',
    'POST /b/k?torrent',
    'HEAD /b/k?legal-hold',
    'POST /b/k',
    'HEAD /b/k?acl',
    'POST /_stillage/health',
  ])('never falls through to the plain operation: %s', (line) => {
    expect(route(line)).toBe('MethodNotAllowed');
  });

  it.each([
    'PUT /b?location',
    'DELETE /b?logging',
    'DELETE /b?object-lock',
    'GET /b?metadataJournalTable',
    'PUT /b?torrent',
    'DELETE /b/k?legal-hold',
    'GET /b/k?encryption',
  ])('tells that what is asked for is not there, whether or not S3 has it: %s', (line) => {
    expect(route(line)).toBe('NotImplemented');
  });

  it.each([
    ['Iam', 'POST /', { authorization: scoped('iam') }],
    ['Sts', 'POST /', { authorization: scoped('sts') }],
    ['LookupEvents', 'POST /', { authorization: scoped('cloudtrail') }],
    ['Sts', 'POST /', { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }],
    [
      'MethodNotAllowed',
      'POST /',
      { authorization: scoped('s3'), 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['MethodNotAllowed', 'POST /', { 'content-type': 'multipart/form-data' }],
    ['MethodNotAllowed', 'POST /?x=1', { authorization: scoped('sts') }],
    ['MethodNotAllowed', 'PUT /', { authorization: scoped('sts') }],
    ['ListBuckets', 'GET /', { authorization: scoped('sts') }],
    ['PostObject', 'POST /b', { authorization: scoped('sts') }],
  ])('finds the other APIs by the scope of the signature: %s %s', (expected, line, headers) => {
    expect(route(line, headers)).toBe(expected);
  });

  it('says which methods there are', () => {
    const { address, query } = resolveTarget('/b/k?retention', undefined, names);
    try {
      findRoute(address, 'POST', query, new Fields());
      expect.unreachable();
    } catch (error) {
      expect((error as S3Error).headers).toEqual({ allow: 'GET, PUT' });
    }
  });

  it('has no ties: no two rows match the same request equally well', () => {
    const rows: readonly Route[] = routes;
    const names = rows.map((row) =>
      JSON.stringify([
        row.on,
        row.method,
        row.query ?? row.path,
        specificity(row) === 0 ? '' : (row.header ?? row.parameter ?? row.api),
      ]),
    );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    // Rows of the same resource and method with different further conditions could both match, unless the number of conditions differed.
    const guarded = rows
      // A request is for one API.
      .filter((row) => specificity(row) > 0 && row.api === undefined)
      .map((row) => `${row.on} ${row.method} ${row.query ?? ''}`);
    expect(guarded.filter((place, at) => guarded.indexOf(place) !== at)).toEqual([]);
  });

  it('has a row for every operation that is implemented, at its own level', () => {
    const rows: readonly Route[] = routes;
    for (const [name, operation] of operations) {
      const own = rows.filter((row) => row.operation === name);
      expect(own, name).not.toEqual([]);
      expect(new Set(own.map((row) => row.on)), name).toEqual(new Set([operation.on].flat()));
    }
  });
});
