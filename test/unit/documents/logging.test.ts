import { expect, it } from 'vitest';
import { logging } from '../../../shared/documents/logging.ts';
import { golden, namespace } from '../xml/golden.ts';

it.each([
  [{}, golden`<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`],
  [
    { enabled: { target: 'logs', prefix: 'a/' } },
    golden`<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix>a/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`,
  ],
  [
    {
      enabled: {
        target: 'logs',
        prefix: '',
        grants: [{ grantee: { by: 'id' as const, name: 'p', displayName: 'P' }, permission: 'READ' as const }],
        keyFormat: { partitioned: { dateSource: 'EventTime' as const } },
      },
    },
    golden`<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/><TargetGrants><Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>p</ID><DisplayName>P</DisplayName></Grantee><Permission>READ</Permission></Grant></TargetGrants><TargetObjectKeyFormat><PartitionedPrefix><PartitionDateSource>EventTime</PartitionDateSource></PartitionedPrefix></TargetObjectKeyFormat></LoggingEnabled></BucketLoggingStatus>`,
  ],
  [
    { enabled: { target: 'logs', prefix: '', keyFormat: { simple: {} } } },
    golden`<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/><TargetObjectKeyFormat><SimplePrefix/></TargetObjectKeyFormat></LoggingEnabled></BucketLoggingStatus>`,
  ],
])('%j', (status, document) => {
  expect(logging.write(status, namespace)).toBe(document);
});
