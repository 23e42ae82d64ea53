import { deepStrictEqual } from 'node:assert';
import { parseIsoDate } from '../../../shared/http/dates.ts';
import { atOnce, EventLoopBudget } from '../../../shared/ports/event-loop.ts';
import { defaultLimits, tagLimits } from '../../../shared/protocol/limits.ts';
import { readAccessControlPolicy } from '../../../shared/xml/acl.ts';
import { corsDocument, readCorsConfiguration } from '../../../shared/xml/cors.ts';
import * as settings from '../../../shared/xml/bucket-settings.ts';
import { readCreateBucketConfiguration, readVersioningConfiguration } from '../../../shared/xml/buckets.ts';
import { lifecycleConfiguration, lifecycleWriting, readLifecycleConfiguration } from '../../../shared/xml/lifecycle.ts';
import { readAlarm } from '../../../shared/xml/monitoring.ts';
import { readCompleteMultipartUpload } from '../../../shared/xml/multipart.ts';
import { readTagging, taggingDocument } from '../../../shared/xml/tagging.ts';
import { readWebsiteConfiguration, websiteDocument } from '../../../shared/xml/website.ts';
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

/** An XML document that is read, and perhaps written and read again. */
function documentParser<T>(
  root: string,
  pieces: readonly string[],
  read: (text: string) => T,
  write?: (value: T) => string,
): Parser {
  return {
    pieces: [...pieces, ...markup],
    around: [`<${root}>`, `</${root}>`],
    read: (text) => {
      const value = read(text);
      if (write !== undefined) deepStrictEqual(read(write(value)), value);
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
    'AccessControlPolicy',
    elements(
      ['Owner', 'ID', 'AccessControlList', 'Grant', 'Grantee', 'Permission', 'URI'],
      ['a', 'FULL_CONTROL', 'READ'],
    ),
    readAccessControlPolicy,
  ),
  'CORS document': documentParser(
    'CORSConfiguration',
    elements(
      ['CORSRule', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds', 'ID'],
      ['*', 'GET', '1', 'x-a'],
    ),
    (text) => readCorsConfiguration(text, 100),
    (rules) => corsDocument(rules, namespace),
  ),
  'website document': documentParser(
    'WebsiteConfiguration',
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
    (text) => readWebsiteConfiguration(text, 50),
    (website) => websiteDocument(website, namespace),
  ),
  'lifecycle document': documentParser(
    'LifecycleConfiguration',
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
    (text) => readLifecycleConfiguration(text, { maximumRules: 100, tags, parseTime: parseIsoDate }),
    (rules) => lifecycleConfiguration(atOnce(lifecycleWriting(rules)), namespace),
  ),
  'tagging document': documentParser(
    'Tagging',
    elements(['TagSet', 'Tag', 'Key', 'Value'], ['a', 'b', '']),
    (text) => readTagging(text, tags),
    (read) => taggingDocument(read, namespace),
  ),
  'other settings': documentParser(
    'VersioningConfiguration',
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
      ],
      ['Enabled', 'AES256', 'true', 'BucketOwnerEnforced'],
    ),
    (text) => {
      const as = (root: string): string => text.replaceAll('VersioningConfiguration', root);
      const read: readonly (() => unknown)[] = [
        () => readVersioningConfiguration(text),
        () => readCreateBucketConfiguration(as('CreateBucketConfiguration'), tags),
        () => settings.readEncryptionConfiguration(as('ServerSideEncryptionConfiguration')),
        () => settings.readPublicAccessBlock(as('PublicAccessBlockConfiguration')),
        () => settings.readOwnershipControls(as('OwnershipControls'), ['BucketOwnerEnforced']),
        () => readAlarm(as('MetricAlarm')),
      ];
      return outcomesOf(read);
    },
  ),
  'list of parts': {
    ...documentParser(
      'CompleteMultipartUpload',
      elements(['Part', 'PartNumber', 'ETag', 'ChecksumCRC32'], ['1', '"a"', 'AAAAAA==']),
      () => 0,
    ),
    read: (text) => readCompleteMultipartUpload(text, new EventLoopBudget()),
  },
};
