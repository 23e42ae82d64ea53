import { httpDateIfAny } from '../../http/fields/dates.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import { abortionOf, expiryOf, realDays, shortDays, type Calendar } from '../../lifecycle/lifecycle.ts';
import { enabledRules, type Tags } from '../../lifecycle/lifecycle-rules.ts';
import type { Version } from '../../storage/versions/versions.ts';
import type { Services, Settings } from '../operation.ts';

type Field = readonly [name: string, value: string];

/**
 * Returns the expiration header of a current version; none if it does not expire, or not within the range of HTTP
 * dates.
 */
export type ExpirationFields = (key: string, version: Version, tags: Tags) => readonly Field[];

/** Returns the calendar of the lifecycle rules, so that the headers match the actual expiration. */
function calendarOf({ lifecycleDaySeconds }: Settings): Calendar {
  return lifecycleDaySeconds === undefined ? realDays : shortDays(lifecycleDaySeconds);
}

/**
 * Reads what {@link ExpirationFields} needs: nothing if the bucket has no rules. To be called before a commit, so that
 * nothing can fail after it.
 *
 * `x-amz-expiration: expiry-date="Fri, 23 Dec 2026 00:00:00 GMT", rule-id="the id, percent-encoded"`, as in
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function readExpirations(
  services: Pick<Services, 'buckets' | 'settings'>,
  bucket: Bucket,
): ExpirationFields | Promise<ExpirationFields> {
  return bucket.documents.lifecycle === undefined ? noExpirations : expirationsOf(services, bucket);
}

const noExpirations: ExpirationFields = () => [];

async function expirationsOf(
  { buckets, settings }: Pick<Services, 'buckets' | 'settings'>,
  bucket: Bucket,
): Promise<ExpirationFields> {
  const document = await buckets.documents.of(bucket, 'lifecycle');
  if (document === undefined) return noExpirations;
  const rules = enabledRules(document);
  return (key, { marker, size, lastModified, replacedAt }, tags) => {
    if (replacedAt !== undefined) return [];
    const expiry = expiryOf(rules, key, { marker, size, tags, lastModified }, calendarOf(settings));
    const date = expiry && httpDateIfAny(expiry.at);
    if (date === undefined) return [];
    return [['x-amz-expiration', `expiry-date="${date}", rule-id="${encodeURIComponent(expiry!.rule.id)}"`]];
  };
}

/**
 * Returns the headers about the rule that will abort an open upload: `x-amz-abort-date: Fri, 23 Dec 2026 00:00:00 GMT`
 * and `x-amz-abort-rule-id`, percent-encoded. Returns none if no rule applies, or not within the range of HTTP dates.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
 */
export async function readAbortion(
  { buckets, settings }: Pick<Services, 'buckets' | 'settings'>,
  bucket: Bucket,
  upload: Parameters<typeof abortionOf>[1],
): Promise<readonly Field[]> {
  const document = await buckets.documents.of(bucket, 'lifecycle');
  const abortion = document && abortionOf(enabledRules(document), upload, calendarOf(settings));
  const date = abortion && httpDateIfAny(abortion.at);
  if (date === undefined) return [];
  return [
    ['x-amz-abort-date', date],
    ['x-amz-abort-rule-id', encodeURIComponent(abortion!.rule.id)],
  ];
}
