import { malformedPolicy } from './malformed-policy.ts';
import { readTemplate, widest, type Template } from './policy-template.ts';
import { canMatchBehind, codePoints, matchesWildcards } from './wildcard.ts';

/**
 * An ARN of S3, or the same without a vendor's name: what follows is `bucket` or `bucket/key`. A bucket is in no region and no account,
 * or, as policies for Ceph RGW say it, in any (`arn:aws:s3::*:bucket`).
 */
const arn = /^arn:(?:aws:s3|svc:svc|aws:svc):\*?:\*?:/;

/**
 * Reads one resource of a policy.
 * @throws S3Error MalformedPolicy unless it can be the bucket, or something in it
 */
export function readResource(text: string, bucket: string, variables: boolean): Template {
  if (text !== '*' && !arn.test(text)) throw malformedPolicy('Policy has invalid resource', text);
  const template = readTemplate(text.replace(arn, ''), { variables, wildcards: true });
  if (!canBeBucket(template, bucket) && !canBeObject(template, bucket)) {
    throw malformedPolicy('Policy has invalid resource', text);
  }
  return template;
}

/** Whether it can match the bucket itself. */
export function canBeBucket(resource: Template, bucket: string): boolean {
  return matchesWildcards(widest(resource), codePoints(bucket));
}

/** Whether it can match an object of the bucket. */
export function canBeObject(resource: Template, bucket: string): boolean {
  return canMatchBehind(widest(resource), codePoints(`${bucket}/`));
}
