import { describe, expect, it } from 'vitest';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/**
 * Requests of S3 Control, which arrive where a client knows one endpoint for all services of AWS: Terraform's AWS provider since 6.23, for the
 * tags of a bucket. https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_ListTagsForResource.html
 */

const service = serviceUnderTest();
const account = { 'x-amz-account-id': '000000000000' };

describe('a request of S3 Control', () => {
  it.each([
    ['GET', ''],
    ['POST', '<TagResourceRequest><Tags><Tag><Key>a</Key><Value>b</Value></Tag></Tags></TagResourceRequest>'],
    ['PUT', 'anything'],
    ['DELETE', ''],
  ])('is refused in the form that its clients read, and nothing is stored: %s', async (method, body) => {
    const Bucket = await service.bucket();
    const path = `/v20180820/tags/arn%3Aaws%3As3%3A%3A%3A${Bucket}`;
    const query = method === 'DELETE' ? 'tagKeys=a' : '';
    const response = await service.send({ method, path, query, headers: account, ...(body !== '' && { body }) });
    expect(response.status).toBe(405);
    expect(response.text).toMatch(
      /^<\?xml[^>]*>\n<ErrorResponse xmlns="http:\/\/awss3control\.amazonaws\.com\/doc\/2018-08-20\/"><Error><Code>MethodNotAllowed<\/Code><Message>[^<]+<\/Message><\/Error><RequestId>tx\w+<\/RequestId><HostId>[\w-]+<\/HostId><\/ErrorResponse>$/,
    );
  });

  it('is none without the account, whatever its path: a bucket may have the name', async () => {
    const Bucket = 'v20180820';
    const Key = 'tags/arn:aws:s3:::photos';
    expect((await service.send({ method: 'PUT', path: `/${Bucket}` })).status).toBe(200);
    await put(service.client, Bucket, Key, 'an object');
    const path = `/${Bucket}/tags/arn%3Aaws%3As3%3A%3A%3Aphotos`;
    for (const method of ['GET', 'DELETE', 'PUT']) {
      expect((await service.send({ method, path, headers: account })).status).toBe(405);
    }
    expect(await read(service.client, Bucket, Key)).toBe('an object');
    expect(await versionsOf(service.client, Bucket)).toHaveLength(1);
    await service.send({ method: 'DELETE', path });
    expect((await service.send({ method: 'DELETE', path: `/${Bucket}` })).status).toBe(204);
  });
});
