import { putAlarm } from '../../../functions/bucket/alarm.ts';
import { putBucketAcl } from '../../../functions/bucket/bucket-acl.ts';
import { putBucketCors } from '../../../functions/bucket/bucket-cors.ts';
import { putBucketEncryption } from '../../../functions/bucket/bucket-encryption.ts';
import { putBucketLifecycleConfiguration } from '../../../functions/bucket/bucket-lifecycle.ts';
import { putBucketMonitoring } from '../../../functions/bucket/bucket-monitoring.ts';
import { putBucketLogging } from '../../../functions/bucket/bucket-logging.ts';
import { putBucketNotificationConfiguration } from '../../../functions/bucket/bucket-notification.ts';
import { putBucketOwnershipControls } from '../../../functions/bucket/bucket-ownership-controls.ts';
import { putBucketVersioning } from '../../../functions/bucket/bucket-versioning.ts';
import { putBucketWebsite } from '../../../functions/bucket/bucket-website.ts';
import { createBucket } from '../../../functions/bucket/create-bucket.ts';
import { deleteObjects } from '../../../functions/bucket/delete-objects.ts';
import { putObjectLockConfiguration } from '../../../functions/bucket/object-lock.ts';
import { putPublicAccessBlock } from '../../../functions/bucket/public-access-block.ts';
import { stubs } from '../../../functions/bucket/stubs.ts';
import { completeMultipartUpload } from '../../../functions/multipart/complete-multipart-upload.ts';
import { putObjectLegalHold, putObjectRetention } from '../../../functions/object/object-lock.ts';
import { putObjectTagging } from '../../../functions/object/object-tagging.ts';
import { putWebhook } from '../../../functions/service/webhook.ts';
import * as settings from '../../../shared/documents/bucket-settings.ts';
import { versioning } from '../../../shared/documents/buckets.ts';
import { cors } from '../../../shared/documents/cors.ts';
import { lifecycle } from '../../../shared/documents/lifecycle.ts';
import { monitoring } from '../../../shared/documents/monitoring.ts';
import { logging } from '../../../shared/documents/logging.ts';
import { notification } from '../../../shared/documents/notification.ts';
import * as locks from '../../../shared/documents/object-lock.ts';
import { tagging } from '../../../shared/documents/tagging.ts';
import { website } from '../../../shared/documents/website.ts';
import { EventLoopBudget } from '../../../shared/ports/event-loop.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import type { DocumentBody, Settings } from '../../../shared/protocol/operation.ts';
import { namespace } from '../xml/golden.ts';

/** Documents of requests, with the reader of each and the writer, if responses have the same document. */
interface Reader {
  readonly samples: readonly string[];
  readonly read: (text: string) => unknown;
  readonly write?: (value: never) => string;
}

const few = { corsRules: 3, routingRules: 3, lifecycleRules: 3, notificationRules: 3, keysPerDelete: 10 };

/** Returns the reader of an operation's body, with these limits. */
export function bodyReader<Document>(
  { body }: { readonly body: DocumentBody<Document> },
  limits: Partial<Settings['limits']> = {},
): (text: string) => Promise<Document> {
  const configured = { limits: { ...defaultLimits, ...limits } } as Settings;
  return async (text) => body.read(Buffer.from(text), configured, new EventLoopBudget());
}
const stub = (name: string) =>
  bodyReader(stubs.find((operation) => operation.name === name) as { body: DocumentBody<unknown> });
const named = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type';
const grant = (type: string, content: string): string =>
  `<Grant><Grantee ${named}="${type}">${content}</Grantee><Permission>READ</Permission></Grant>`;
const ofRule = (rule: string): string =>
  `<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status>${rule}</Rule></LifecycleConfiguration>`;

/** The reader of every document, by its root element. */
export const documentReaders: Readonly<Record<string, Reader>> = {
  AccessControlPolicy: {
    samples: [
      '<AccessControlPolicy><Owner><ID>p1</ID><DisplayName>Project</DisplayName></Owner><AccessControlList>' +
        grant('CanonicalUser', '<ID>p2</ID><DisplayName>Other</DisplayName>') +
        grant('AmazonCustomerByEmail', '<EmailAddress>a@b.example</EmailAddress>') +
        grant('Group', '<URI>http://acs.amazonaws.com/groups/global/AllUsers</URI>') +
        '</AccessControlList></AccessControlPolicy>',
    ],
    read: bodyReader(putBucketAcl),
  },
  Alarm: {
    samples: [
      '<Alarm><Description>full</Description><Metric>BucketSizeBytes</Metric><Statistic>Maximum</Statistic>' +
        '<ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>1e9</Threshold><Period>300</Period>' +
        '<EvaluationPeriods>2</EvaluationPeriods><DatapointsToAlarm>1</DatapointsToAlarm>' +
        '<TreatMissingData>ignore</TreatMissingData><ActionsEnabled>true</ActionsEnabled><OKAction>log:</OKAction>' +
        '<AlarmAction>log:</AlarmAction><AlarmAction>https://a.example/</AlarmAction>' +
        '<InsufficientDataAction>log:</InsufficientDataAction></Alarm>',
    ],
    read: bodyReader(putAlarm),
  },
  BucketLoggingStatus: {
    samples: [
      '<BucketLoggingStatus/>',
      '<BucketLoggingStatus><LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix>p/</TargetPrefix>' +
        '<TargetGrants><Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">' +
        '<ID>i</ID></Grantee><Permission>READ</Permission></Grant></TargetGrants><TargetObjectKeyFormat>' +
        '<PartitionedPrefix><PartitionDateSource>EventTime</PartitionDateSource></PartitionedPrefix>' +
        '</TargetObjectKeyFormat></LoggingEnabled></BucketLoggingStatus>',
      '<BucketLoggingStatus><LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix/><TargetObjectKeyFormat>' +
        '<SimplePrefix/></TargetObjectKeyFormat></LoggingEnabled></BucketLoggingStatus>',
    ],
    read: bodyReader(putBucketLogging),
    write: (status) => logging.write(status, namespace),
  },
  CORSConfiguration: {
    samples: [
      '<CORSConfiguration><CORSRule><ID>r</ID><AllowedOrigin>https://*.example</AllowedOrigin>' +
        '<AllowedMethod>GET</AllowedMethod><AllowedHeader>x-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>' +
        '<MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>',
    ],
    read: bodyReader(putBucketCors, few),
    write: (rules) => cors.write(rules, namespace),
  },
  CompleteMultipartUpload: {
    samples: [
      '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"e"</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32>' +
        '</Part></CompleteMultipartUpload>',
    ],
    read: bodyReader(completeMultipartUpload),
  },
  CreateBucketConfiguration: {
    samples: [
      '<CreateBucketConfiguration><LocationConstraint>eu</LocationConstraint><Tags><Tag><Key>k</Key><Value>v</Value></Tag>' +
        '</Tags></CreateBucketConfiguration>',
      '<CreateBucketConfiguration><Location><Name>a</Name></Location></CreateBucketConfiguration>',
      '<CreateBucketConfiguration><Bucket><Type>Directory</Type></Bucket></CreateBucketConfiguration>',
    ],
    read: bodyReader(createBucket, { tagsPerBucket: 10 }),
  },
  Delete: {
    samples: [
      '<Delete><Quiet>false</Quiet><Object><Key>a&amp;b</Key><VersionId>v</VersionId><ETag>"e"</ETag>' +
        '<LastModifiedTime>Wed, 02 Jan 2030 00:00:00 GMT</LastModifiedTime><Size>1</Size></Object></Delete>',
    ],
    read: bodyReader(deleteObjects, few),
  },
  LifecycleConfiguration: {
    samples: [
      ofRule('<Prefix>logs/</Prefix><Expiration><Date>2030-01-02T00:00:00Z</Date></Expiration>'),
      ofRule(
        '<Filter><And><Prefix>p</Prefix><Tag><Key>k</Key><Value>v</Value></Tag>' +
          '<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan><ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>' +
          '<Expiration><Days>1</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays>' +
          '<NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration>',
      ),
      ofRule(
        '<Filter><Prefix>p</Prefix></Filter>' +
          '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>' +
          '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
      ),
      ofRule(
        '<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter><Expiration><Days>1</Days></Expiration>' +
          '<Transition><Days>1</Days></Transition>',
      ),
      ofRule(
        '<Filter><ObjectSizeLessThan>1</ObjectSizeLessThan></Filter>' +
          '<NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays></NoncurrentVersionExpiration>' +
          '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
      ),
    ],
    read: bodyReader(putBucketLifecycleConfiguration, few),
    write: (rules) => lifecycle.write(rules, namespace),
  },
  MonitoringConfiguration: {
    samples: ['<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>'],
    read: bodyReader(putBucketMonitoring),
    write: (status) => monitoring.write(status, namespace),
  },
  Webhook: {
    samples: [
      '<Webhook><Url>https://hooks.example/</Url></Webhook>',
      '<Webhook><Url>https://hooks.example/</Url><Format>cloudevents</Format><Batch>1</Batch></Webhook>',
    ],
    read: bodyReader(putWebhook),
  },
  NotificationConfiguration: {
    samples: [
      '<NotificationConfiguration/>',
      '<NotificationConfiguration><TopicConfiguration><Id>a</Id><Topic>arn:aws:sns:us-east-1:123456789012:t</Topic>' +
        '<Event>s3:ObjectCreated:*</Event><Filter><S3Key><FilterRule><Name>prefix</Name><Value>a/</Value></FilterRule>' +
        '<FilterRule><Name>suffix</Name><Value>.jpg</Value></FilterRule></S3Key></Filter></TopicConfiguration>' +
        '<QueueConfiguration><Id>b</Id><Queue>arn:aws:sqs:us-east-1:123456789012:q</Queue>' +
        '<Event>s3:ObjectRemoved:Delete</Event><Event>s3:ObjectAcl:Put</Event></QueueConfiguration>' +
        '<CloudFunctionConfiguration><Id>c</Id><CloudFunction>arn:aws:lambda:us-east-1:1:function:f</CloudFunction>' +
        '<Event>s3:LifecycleExpiration:*</Event></CloudFunctionConfiguration><EventBridgeConfiguration/>' +
        '</NotificationConfiguration>',
    ],
    read: bodyReader(putBucketNotificationConfiguration, few),
    write: (configuration) => notification.write(configuration, namespace),
  },
  OwnershipControls: {
    samples: ['<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></OwnershipControls>'],
    read: bodyReader(putBucketOwnershipControls),
    write: (ownership) => settings.ownershipControls.write(ownership, namespace),
  },
  PublicAccessBlockConfiguration: {
    samples: [
      '<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>false</IgnorePublicAcls>' +
        '<BlockPublicPolicy>1</BlockPublicPolicy><RestrictPublicBuckets>True</RestrictPublicBuckets>' +
        '</PublicAccessBlockConfiguration>',
    ],
    read: bodyReader(putPublicAccessBlock),
    write: (block) => settings.publicAccessBlock.write(block, namespace),
  },
  RequestPaymentConfiguration: {
    samples: ['<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>'],
    read: stub('PutBucketRequestPayment'),
  },
  ServerSideEncryptionConfiguration: {
    samples: [
      '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>' +
        '</ApplyServerSideEncryptionByDefault><BucketKeyEnabled>true</BucketKeyEnabled>' +
        '<BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes></Rule>' +
        '</ServerSideEncryptionConfiguration>',
      '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>' +
        '<KMSMasterKeyID>k</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule>' +
        '</ServerSideEncryptionConfiguration>',
    ],
    read: bodyReader(putBucketEncryption),
    write: (encryption) => settings.encryption.write(encryption, namespace),
  },
  LegalHold: {
    samples: ['<LegalHold><Status>ON</Status></LegalHold>'],
    read: bodyReader(putObjectLegalHold),
    write: (status) => locks.legalHold.write(status, namespace),
  },
  ObjectLockConfiguration: {
    samples: [
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>' +
        '<Mode>GOVERNANCE</Mode><Days>30</Days></DefaultRetention></Rule></ObjectLockConfiguration>',
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>' +
        '<Mode>COMPLIANCE</Mode><Years>7</Years></DefaultRetention></Rule></ObjectLockConfiguration>',
    ],
    read: bodyReader(putObjectLockConfiguration),
    write: (settings) => locks.objectLockConfiguration.write(settings, namespace),
  },
  Retention: {
    samples: ['<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>2030-01-02T00:00:00Z</RetainUntilDate></Retention>'],
    read: bodyReader(putObjectRetention),
    write: (retention) => locks.objectRetention.write(retention, namespace),
  },
  Tagging: {
    samples: ['<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>'],
    read: bodyReader(putObjectTagging),
    write: (read) => tagging.write(read, namespace),
  },
  VersioningConfiguration: {
    samples: [
      '<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>',
      '<VersioningConfiguration><Status>Suspended</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>',
    ],
    read: bodyReader(putBucketVersioning),
    write: (status) => versioning.write(status, namespace),
  },
  WebsiteConfiguration: {
    samples: [
      '<WebsiteConfiguration><RedirectAllRequestsTo><HostName>b.example</HostName><Protocol>https</Protocol>' +
        '</RedirectAllRequestsTo></WebsiteConfiguration>',
      '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument>' +
        '<ErrorDocument><Key>404.html</Key></ErrorDocument><RoutingRules><RoutingRule><Condition>' +
        '<KeyPrefixEquals>docs/</KeyPrefixEquals><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals>' +
        '</Condition><Redirect><Protocol>https</Protocol><HostName>b.example</HostName>' +
        '<ReplaceKeyPrefixWith>new/</ReplaceKeyPrefixWith><HttpRedirectCode>302</HttpRedirectCode></Redirect>' +
        '</RoutingRule><RoutingRule><Redirect><ReplaceKeyWith>away</ReplaceKeyWith></Redirect></RoutingRule>' +
        '</RoutingRules></WebsiteConfiguration>',
    ],
    read: bodyReader(putBucketWebsite, few),
    write: (read) => website.write(read, namespace),
  },
};
