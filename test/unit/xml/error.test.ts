import { expect, it } from 'vitest';
import { invalidArgument, S3Error } from '../../../shared/errors/s3-error.ts';
import { errorDocument } from '../../../shared/xml/error.ts';

const context = { resource: '/b/k', requestId: 'tx1', hostId: 'h1' };

it('an error has no namespace; its details stand between message and resource', () => {
  const error = new S3Error('NoSuchKey', { details: { BucketName: 'b', Key: '<k>\u0001' } });
  expect(errorDocument(error, context)).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><BucketName>b</BucketName>' +
      '<Key>&lt;k&gt;&#x1;</Key><Resource>/b/k</Resource><RequestId>tx1</RequestId><HostId>h1</HostId></Error>',
  );
});

it('an error may keep its resource to itself', () => {
  const error = invalidArgument('max-keys', '-1', 'Must not be negative');
  expect(errorDocument(error, { ...context, resource: undefined })).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<Error><Code>InvalidArgument</Code><Message>Must not be negative</Message><ArgumentName>max-keys</ArgumentName>' +
      '<ArgumentValue>-1</ArgumentValue><RequestId>tx1</RequestId><HostId>h1</HostId></Error>',
  );
});
