import { awsCommand, type Target } from './commands.ts';
import { granteeUri, type Acl, type Grantee, type Resource } from '../s3/access.ts';
import type { DefaultRetention } from '../s3/object-lock.ts';
import type { LifecycleRule } from '../s3/lifecycle.ts';
import type { Website } from '../s3/website.ts';
import type { CorsRule } from '../../shared/documents/cors.ts';
import type { NotificationConfiguration, UnnamedNotificationRule } from '../../shared/documents/notification.ts';
import type { Tag } from '../../shared/documents/tagging.ts';

/*
 * Settings of a bucket as the AWS CLI takes them: documents in JSON. Absent elements are omitted.
 */

const unlessEmpty = (value: string): string | undefined => (value === '' ? undefined : value);

/** Returns the value of `--cors-configuration`. */
export function corsJson(rules: readonly CorsRule[]): string {
  return JSON.stringify({
    CORSRules: rules.map(({ id, origins, methods, headers, expose, maxAge }) => ({
      ID: id,
      AllowedOrigins: origins,
      AllowedMethods: methods,
      AllowedHeaders: headers,
      ExposeHeaders: expose,
      MaxAgeSeconds: maxAge,
    })),
  });
}

/** Returns the value of `--website-configuration`. */
export function websiteJson(website: Website): string {
  if (website.kind === 'redirect') {
    const { host, protocol } = website;
    return JSON.stringify({ RedirectAllRequestsTo: { HostName: host, Protocol: unlessEmpty(protocol) } });
  }
  const rules = website.rules.map((rule) => ({
    Condition:
      rule.prefix === '' && rule.errorCode === ''
        ? undefined
        : { KeyPrefixEquals: unlessEmpty(rule.prefix), HttpErrorCodeReturnedEquals: unlessEmpty(rule.errorCode) },
    Redirect: {
      Protocol: unlessEmpty(rule.protocol),
      HostName: unlessEmpty(rule.host),
      ReplaceKeyPrefixWith: rule.replacePrefix,
      ReplaceKeyWith: unlessEmpty(rule.replaceKey),
      HttpRedirectCode: unlessEmpty(rule.code),
    },
  }));
  return JSON.stringify({
    IndexDocument: { Suffix: website.index },
    ErrorDocument: website.error === '' ? undefined : { Key: website.error },
    RoutingRules: rules.length === 0 ? undefined : rules,
  });
}

/** Returns the value of `--notification-configuration`. */
export function notificationJson({ rules, eventBridge }: NotificationConfiguration): string {
  const ruleJson = ({ id, via, target, events, prefix, suffix }: UnnamedNotificationRule) => ({
    Id: id,
    [{ Queue: 'QueueArn', Topic: 'TopicArn', CloudFunction: 'LambdaFunctionArn' }[via]]: target,
    Events: events,
    ...((prefix !== undefined || suffix !== undefined) && {
      Filter: {
        Key: {
          FilterRules: [
            ...(prefix === undefined ? [] : [{ Name: 'prefix', Value: prefix }]),
            ...(suffix === undefined ? [] : [{ Name: 'suffix', Value: suffix }]),
          ],
        },
      },
    }),
  });
  const of = (kind: UnnamedNotificationRule['via']) => {
    const own = rules.filter(({ via }) => via === kind);
    return own.length === 0 ? undefined : own.map(ruleJson);
  };
  return JSON.stringify({
    QueueConfigurations: of('Queue'),
    TopicConfigurations: of('Topic'),
    LambdaFunctionConfigurations: of('CloudFunction'),
    ...(eventBridge && { EventBridgeConfiguration: {} }),
  });
}

/** Returns the value of `--tagging`. */
export function taggingJson(tags: readonly Tag[]): string {
  return JSON.stringify({ TagSet: tags.map(({ key, value }) => ({ Key: key, Value: value })) });
}

/** Returns the value of `--lifecycle-configuration`; undefined if a rule has elements that are not supported here. */
export function lifecycleJson(rules: readonly LifecycleRule[]): string | undefined {
  const simple = rules.filter((rule) => rule.kind === 'simple');
  if (simple.length < rules.length) return undefined;
  return JSON.stringify({
    Rules: simple.map(({ name, prefix, days, noncurrentDays, isEnabled }) => ({
      ID: name,
      Status: isEnabled ? 'Enabled' : 'Disabled',
      Filter: { Prefix: unlessEmpty(prefix) },
      Expiration: days === undefined ? undefined : { Days: days },
      NoncurrentVersionExpiration: noncurrentDays === undefined ? undefined : { NoncurrentDays: noncurrentDays },
    })),
  });
}

/** The grant of public access, as in `--access-control-policy`. */
export const grantToEverybody = {
  Grantee: { Type: 'Group', URI: granteeUri.everybody },
  Permission: 'READ',
} as const;

function granteeJson(grantee: Grantee): Readonly<Record<string, string>> {
  switch (grantee.kind) {
    case 'everybody':
    case 'signed-in':
      return { Type: 'Group', URI: granteeUri[grantee.kind] };
    case 'other-group':
      return { Type: 'Group', URI: grantee.uri };
    case 'email':
      return { Type: 'AmazonCustomerByEmail', EmailAddress: grantee.email };
    case 'id':
      return { Type: 'CanonicalUser', ID: grantee.id };
  }
}

/** Returns the value of `--access-control-policy`. */
function aclJson({ owner, grants }: Acl): string {
  return JSON.stringify({
    Grants: grants.map(({ grantee, permission }) => ({ Grantee: granteeJson(grantee), Permission: permission })),
    Owner: { ID: owner.id },
  });
}

/** Returns the command that replaces the ACL of a bucket or an object. */
export function aclCommand(target: Target, { bucket, key, versionId }: Resource, acl: Acl): string {
  const words = [`put-${key === undefined ? 'bucket' : 'object'}-acl`, '--bucket', bucket];
  if (key !== undefined) words.push('--key', key);
  if (versionId !== undefined) words.push('--version-id', versionId);
  return awsCommand(target, 's3api', ...words, '--access-control-policy', aclJson(acl));
}

/** Returns the command that turns versioning on, or suspends it. */
export function versioningCommand(target: Target, bucket: string, status: 'Enabled' | 'Suspended'): string {
  const option = ['--versioning-configuration', `Status=${status}`];
  return awsCommand(target, 's3api', 'put-bucket-versioning', '--bucket', bucket, ...option);
}

/** Returns the command that enables object lock, with a default retention or none. */
export function objectLockCommand(target: Target, bucket: string, retention: DefaultRetention | undefined): string {
  const configuration = {
    ObjectLockEnabled: 'Enabled',
    Rule: retention && {
      DefaultRetention: { Mode: retention.mode, [retention.unit === 'days' ? 'Days' : 'Years']: retention.period },
    },
  };
  const option = ['--object-lock-configuration', JSON.stringify(configuration)];
  return awsCommand(target, 's3api', 'put-object-lock-configuration', '--bucket', bucket, ...option);
}

/** Returns the command that turns the encryption of new objects on or off. */
export function encryptionCommand(target: Target, bucket: string, on: boolean): string {
  if (!on) return awsCommand(target, 's3api', 'delete-bucket-encryption', '--bucket', bucket);
  const rules = JSON.stringify({ Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }] });
  const option = ['--server-side-encryption-configuration', rules];
  return awsCommand(target, 's3api', 'put-bucket-encryption', '--bucket', bucket, ...option);
}
