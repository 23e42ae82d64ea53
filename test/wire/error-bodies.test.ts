import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/expect-error.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';
import { sha256 } from '../support/signer.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses */
describe('an error', () => {
  it('is one document without a namespace, whose elements have this order', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}/a%20key` });
    expect(response.status).toBe(404);
    expect(response.text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a key</Key>' +
        `<Resource>/${bucket}/a%20key</Resource><RequestId>${response.header('x-amz-request-id')}</RequestId>` +
        `<HostId>${response.header('x-amz-id-2')}</HostId></Error>`,
    );
  });
});
