/*
 * The APIs besides S3. The router at the edge uses this file, too, and its runtime limits the syntax: see functions/cloud/edge/router.ts.
 */

/** An API in AWS's Query protocol: a form posted to `/`, which names the action. */
export type QueryApi = 'iam' | 'sts';

/** An API besides S3. CloudTrail's requests are JSON. */
export type OtherApi = QueryApi | 'cloudtrail';

/**
 * Returns the API that a `POST /` without a query is for, by the service in the scope of its signature; '' if there is none. An unsigned
 * form is for STS, which has an action for callers without a key.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/programming.html
 */
export function otherApiOf(authorization: string | undefined, contentType: string | undefined): OtherApi | '' {
  if (authorization === undefined) return /^application\/x-www-form-urlencoded\b/i.test(contentType || '') ? 'sts' : '';
  const scope = /\/(iam|sts|cloudtrail)\/aws4_request\s*(?:,|$)/.exec(authorization);
  return scope ? (scope[1] as OtherApi) : '';
}
