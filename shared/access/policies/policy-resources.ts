import { malformedPolicy } from './malformed-policy.ts';
import { readTemplate, widest, type Template } from './policy-template.ts';
import { canMatchBehind, codePoints, matchesWildcards } from './wildcard.ts';

/**
 * The prefix of an S3 ARN, or of its vendor-neutral form, followed by `bucket` or `bucket/key`. Region and account are
 * empty or, as in policies for Ceph RGW, `*` (`arn:aws:s3::*:bucket`).
 */
const arn = /^arn:(?:aws:s3|svc:svc|aws:svc):\*?:\*?:/;

/**
 * Reads a resource of a policy.
 * @throws S3Error MalformedPolicy unless it can match the bucket or an object in it
 */
export function readResource(text: string, bucket: string, variables: boolean): Template {
  if (text !== '*' && !arn.test(text)) throw malformedPolicy('Policy has invalid resource', text);
  const template = readTemplate(text.replace(arn, ''), { variables, wildcards: true });
  if (!canBeBucket(template, bucket) && !canBeObject(template, bucket)) {
    throw malformedPolicy('Policy has invalid resource', text);
  }
  return template;
}

/** The prefix of the ARNs of buckets and objects. */
export const bucketArn = 'arn:aws:s3:::';

/**
 * Reads a resource of an identity's policy: an ARN of any service, or `*`. Those of S3 are read in one form.
 * @throws S3Error MalformedPolicy
 */
export function readArn(text: string, variables: boolean): Template {
  if (text !== '*' && !/^arn:(?:[^:]*:){4}./s.test(text)) throw malformedPolicy('Policy has invalid resource', text);
  return readTemplate(text.replace(arn, bucketArn), { variables, wildcards: true });
}

/** Tells whether the resource can match the bucket itself. */
export function canBeBucket(resource: Template, bucket: string): boolean {
  return matchesWildcards(widest(resource), codePoints(bucket));
}

/** Tells whether the resource can match an object in the bucket. */
export function canBeObject(resource: Template, bucket: string): boolean {
  return canMatchBehind(widest(resource), codePoints(`${bucket}/`));
}
