import { deepStrictEqual } from 'node:assert';
import { writtenAcl } from '../../../shared/documents/acl.ts';
import * as settings from '../../../shared/documents/bucket-settings.ts';
import { createBucketConfiguration, versioning } from '../../../shared/documents/buckets.ts';
import { cors } from '../../../shared/documents/cors.ts';
import { lifecycle } from '../../../shared/documents/lifecycle.ts';
import { writtenAlarm } from '../../../shared/documents/monitoring.ts';
import { completedParts } from '../../../shared/documents/multipart.ts';
import { logging } from '../../../shared/documents/logging.ts';
import { notification } from '../../../shared/documents/notification.ts';
import type { DocumentType } from '../../../shared/documents/schema.ts';
import { tagging } from '../../../shared/documents/tagging.ts';
import { writtenWebhook } from '../../../shared/documents/webhooks.ts';
import { website } from '../../../shared/documents/website.ts';
import { defaultLimits, tagLimits } from '../../../shared/protocol/limits.ts';
import * as locks from '../../../shared/documents/object-lock.ts';
import { readTagging } from '../../../shared/protocol/tags.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { type Parser, outcomesOf } from './parser.ts';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
const tags = tagLimits(defaultLimits, 'tagsPerObject');
const markup = [
  '<a>',
  '</a>',
  '<a/>',
  ' ',
  '&#1;',
  '&amp;',
  '<!---->',
  '<![CDATA[x]]>',
  'x',
  ' a="b"',
  `xmlns="${namespace}"`,
];

/** A document of XML that is read, written and read again. */
function documentParser<T>(type: DocumentType<T>, pieces: readonly string[], isWritten = true): Parser {
  return {
    pieces: [...pieces, ...markup],
    around: [`<${type.root}>`, `</${type.root}>`],
    read: (text) => {
      const value = readDocument(text, type);
      if (isWritten) deepStrictEqual(readDocument(type.write(value, namespace), type), value);
      return value;
    },
  };
}

/** Elements of these names, open, closed, empty and with each of these texts. */
function elements(names: readonly string[], texts: readonly string[]): string[] {
  return names.flatMap((name) => [`<${name}>`, `</${name}>`, ...texts.map((text) => `<${name}>${text}</${name}>`)]);
}

/** Documents of requests. */
export const documents: Readonly<Record<string, Parser>> = {
  'ACL document': documentParser(
    writtenAcl,
    elements(
      ['Owner', 'ID', 'AccessControlList', 'Grant', 'Grantee', 'Permission', 'URI'],
      ['a', 'FULL_CONTROL', 'READ'],
    ),
  ),
  'CORS document': documentParser(
    cors,
    elements(
      ['CORSRule', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds', 'ID'],
      ['*', 'GET', '1', 'x-a'],
    ),
  ),
  'website document': documentParser(
    website,
    elements(
      [
        'IndexDocument',
        'Suffix',
        'ErrorDocument',
        'Key',
        'RoutingRules',
        'RoutingRule',
        'Redirect',
        'HostName',
        'Condition',
        'KeyPrefixEquals',
        'HttpErrorCodeReturnedEquals',
        'ReplaceKeyWith',
        'RedirectAllRequestsTo',
        'Protocol',
        'HttpRedirectCode',
      ],
      ['a', '404', '301', 'https'],
    ),
  ),
  'logging document': documentParser(
    logging,
    elements(
      [
        'LoggingEnabled',
        'TargetBucket',
        'TargetPrefix',
        'TargetGrants',
        'Grant',
        'Permission',
        'TargetObjectKeyFormat',
        'SimplePrefix',
        'PartitionedPrefix',
        'PartitionDateSource',
      ],
      ['b', 'READ', 'EventTime', 'DeliveryTime'],
    ),
  ),
  'notification document': documentParser(
    notification,
    elements(
      [
        'TopicConfiguration',
        'Topic',
        'QueueConfiguration',
        'Queue',
        'EventBridgeConfiguration',
        'Id',
        'Event',
        'Filter',
        'S3Key',
        'FilterRule',
        'Name',
        'Value',
      ],
      ['a', 's3:ObjectCreated:*', 's3:ObjectAcl:Put', 'prefix', 'Suffix'],
    ),
  ),
  'lifecycle document': documentParser(
    lifecycle,
    elements(
      [
        'Rule',
        'ID',
        'Status',
        'Filter',
        'Prefix',
        'And',
        'Tag',
        'Key',
        'Value',
        'Expiration',
        'Days',
        'Date',
        'ExpiredObjectDeleteMarker',
        'NoncurrentVersionExpiration',
        'NoncurrentDays',
        'NewerNoncurrentVersions',
        'AbortIncompleteMultipartUpload',
        'DaysAfterInitiation',
        'ObjectSizeGreaterThan',
      ],
      ['a', 'Enabled', '1', 'true', '2030-01-01T00:00:00Z'],
    ),
  ),
  'tagging document': {
    ...documentParser(tagging, elements(['TagSet', 'Tag', 'Key', 'Value'], ['a', 'b', ''])),
    read: (text) => {
      const read = readTagging(text, tags);
      deepStrictEqual(new Set(readTagging(tagging.write(read, namespace), tags)), new Set(read));
    },
  },
  'other settings': {
    ...documentParser(
      versioning,
      elements(
        [
          'Status',
          'MfaDelete',
          'LocationConstraint',
          'Rule',
          'ApplyServerSideEncryptionByDefault',
          'SSEAlgorithm',
          'BlockPublicAcls',
          'ObjectOwnership',
          'ObjectLockEnabled',
          'DefaultRetention',
          'Mode',
          'Days',
          'RetainUntilDate',
        ],
        ['Enabled', 'AES256', 'true', 'BucketOwnerEnforced', 'GOVERNANCE', '1', '2030-01-01T00:00:00Z'],
      ),
    ),
    read: (text) =>
      outcomesOf(
        [
          ...[versioning, createBucketConfiguration, settings.encryption, settings.publicAccessBlock],
          ...[settings.ownershipControls, writtenAlarm, writtenWebhook, ...Object.values(locks)],
        ].map((type) => () => readDocument(text.replaceAll(versioning.root, type.root), type as DocumentType<unknown>)),
      ),
  },
  'list of parts': documentParser(
    completedParts,
    elements(['Part', 'PartNumber', 'ETag', 'ChecksumCRC32'], ['1', '"a"', 'AAAAAA==']),
    false,
  ),
};
