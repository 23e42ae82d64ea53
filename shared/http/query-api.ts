/*
 * The APIs besides S3. The router at the edge uses this file, too, and its runtime limits the syntax: see functions/cloud/edge/router.ts.
 */

/** An API in AWS's Query protocol: a form posted to `/`, which names the action. */
export type QueryApi = 'iam' | 'sts';

/**
 * Returns the API that a `POST /` without a query is for, by the service in the scope of its signature; '' if there is none. An unsigned
 * form is for STS, which has an action for callers without a key.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/programming.html
 */
export function queryApiOf(authorization: string | undefined, contentType: string | undefined): QueryApi | '' {
  if (authorization === undefined) return /^application\/x-www-form-urlencoded\b/i.test(contentType || '') ? 'sts' : '';
  const scope = /\/(iam|sts)\/aws4_request\s*(?:,|$)/.exec(authorization);
  return scope ? (scope[1] as QueryApi) : '';
}
