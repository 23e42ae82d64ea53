import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses */
describe('an error', () => {
  it('is one document without a namespace, whose elements have this order', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}/a%20key` });
    expect(response.status).toBe(404);
    expect(response.text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>' +
        `<BucketName>${bucket}</BucketName><Key>a key</Key><Resource>/${bucket}/a%20key</Resource>` +
        `<RequestId>${response.header('x-amz-request-id')}</RequestId>` +
        `<HostId>${response.header('x-amz-id-2')}</HostId></Error>`,
    );
  });

  // minio-go compares messages: https://github.com/minio/minio-go/blob/master/api-error-response.go
  it.each([
    ['NoSuchBucket', 404, 'The specified bucket does not exist', { path: '/no-such-bucket-anywhere' }],
    ['InvalidBucketName', 400, 'The specified bucket is not valid.', { method: 'PUT', path: '/ab' }],
    ['NoSuchKey', 404, 'The specified key does not exist.', { path: '/{bucket}/key' }],
    ['NoSuchBucketPolicy', 404, 'The bucket policy does not exist', { path: '/{bucket}', query: 'policy' }],
    ['NoSuchTagSet', 404, 'The TagSet does not exist', { path: '/{bucket}', query: 'tagging' }],
    [
      ...(['NoSuchLifecycleConfiguration', 404, 'The lifecycle configuration does not exist'] as const),
      { path: '/{bucket}', query: 'lifecycle' },
    ],
    ['NoSuchCORSConfiguration', 404, 'The CORS configuration does not exist', { path: '/{bucket}', query: 'cors' }],
    [
      ...(['PreconditionFailed', 412, 'At least one of the pre-conditions you specified did not hold'] as const),
      { path: '/{bucket}/there', headers: { 'if-match': '"other"' } },
    ],
  ])('has the message that clients compare: %s', async (code, status, message, { path, ...request }) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'there');
    const response = await service.send({ ...request, path: path.replace('{bucket}', bucket) });
    expectError(response, status, code);
    expect(textOf(response.text, 'Message')).toBe(message);
  });

  it('of the service names neither bucket nor key', async () => {
    const response = await service.send({ path: '/', query: 'max-buckets=0' });
    expectError(response, 400, 'InvalidArgument');
    expect(response.text).not.toMatch(/<BucketName>|<Key>/);
    expect(textOf(response.text, 'Resource')).toBe('/');
  });

  it('writes what was sent so that it cannot be taken for markup', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}/%3CKey%3E%26%22%01` });
    expectError(response, 404, 'NoSuchKey');
    expect(response.text).toContain('<Key>&lt;Key&gt;&amp;&quot;&#x1;</Key>');
  });

  it('names the argument that is wrong, and its value', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}`, query: 'max-keys=many' });
    expectError(response, 400, 'InvalidArgument');
    expect(textOf(response.text, 'ArgumentName')).toBe('max-keys');
    expect(textOf(response.text, 'ArgumentValue')).toBe('many');
  });

  it.each([
    ['If-Match', { 'if-match': '"other"' }],
    ['If-Unmodified-Since', { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ])('names the condition that failed: %s', async (condition, headers) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    const response = await service.send({ path: `/${bucket}/key`, headers });
    expectError(response, 412, 'PreconditionFailed');
    expect(textOf(response.text, 'Condition')).toBe(condition);
  });

  it('of a range tells what was asked for and what there is', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '12345');
    const response = await service.send({ path: `/${bucket}/key`, headers: { range: 'bytes=7-9' } });
    expectError(response, 416, 'InvalidRange');
    expect(response.header('content-range')).toBe('bytes */5');
    expect(textOf(response.text, 'RangeRequested')).toBe('bytes=7-9');
    expect(textOf(response.text, 'ActualObjectSize')).toBe('5');
  });

  it('tells nothing of how the service is made', async () => {
    const bucket = await service.bucket();
    for (const request of [
      { path: '/no-such-bucket-here' },
      { path: `/${bucket}`, query: 'max-keys=-1' },
      { method: 'PUT', path: `/${bucket}`, query: 'versioning', body: '<not xml' },
    ]) {
      expect((await service.send(request)).text).not.toMatch(/ at \w|node_modules|\.ts\b|lmdb|dynamo/i);
    }
  });

  it('of a request that is no HTTP has the form of any other', async () => {
    const response = await service.sendUnsigned({ path: '/', headers: { 'transfer-encoding': 'gzip' }, body: 'x' });
    expect(response.status).toBe(400);
    expect(response.text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<Error><Code>InvalidRequest<\/Code>/);
  });
});
