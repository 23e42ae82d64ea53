import { malformedPolicy } from './policies/malformed-policy.ts';

/**
 * The supported condition keys and their meanings. Lower case, since condition keys are case-insensitive:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html#amazons3-policy-keys
 * Their values come from what the service knows of a request; a client cannot set one by sending a header of that name.
 */
export const conditionKeys = {
  'aws:currenttime': 'the time of arrival, ISO 8601',
  'aws:epochtime': 'the time of arrival, in seconds since 1970',
  'aws:principalaccount': 'the project of the caller, by its id or account number; absent for anonymous requests',
  'aws:principalarn':
    '`arn:aws:iam::<project>:user/<name>`, or `:role/<name>` of an assumed role, with the id or the account number, which a later one of the same name shares; absent for anonymous requests',
  'aws:principalisawsservice': '`true` for deliveries of access logs, otherwise `false`; absent for anonymous requests',
  'aws:principalservicename': '`logging.s3.amazonaws.com`, for deliveries of access logs',
  'aws:principaltype': '`User`, `AssumedRole`, `Anonymous` or, for deliveries of access logs, `Service`',
  'aws:referer': 'the Referer header, which any client can forge',
  'aws:requestedregion': 'the region of the deployment',
  'aws:resourceaccount': 'the project that owns the bucket, by its id or account number',
  'aws:securetransport': '`true` over TLS, otherwise `false`',
  'aws:sourceaccount':
    'the project that owns the logged bucket, by its id or account number, for deliveries of access logs',
  'aws:sourcearn': '`arn:aws:s3:::<bucket>`, the logged bucket, for deliveries of access logs',
  'aws:sourceip': "the client's address, as reported by trusted hops only",
  'aws:tokenissuetime': 'the time at which the temporary key of the caller was made, ISO 8601; absent for other keys',
  'aws:useragent': 'the User-Agent header, which any client can forge',
  'aws:username': 'the name of the signing user, which a later user of the same name shares; absent for roles',
  'aws:viaawsservice': '`false`',
  'iam:permissionsboundary':
    'the ARN of the permissions boundary that a request sets, or that the user or role has whose policies or boundary it changes',
  'iam:policyarn': 'the ARN of the policy that a request attaches or detaches',
  's3:authtype': '`REST-HEADER`, `REST-QUERY-STRING` or `POST`',
  's3:delimiter': 'the delimiter of a listing',
  's3:if-match': 'the If-Match that a write or a delete evaluates',
  's3:if-none-match': 'the If-None-Match that a write evaluates',
  's3:locationconstraint': 'the region that CreateBucket asks for',
  's3:max-keys': 'the max-keys of a listing of objects or versions',
  's3:objectcreationoperation':
    '`true` for requests that create an object, `false` for CreateMultipartUpload, UploadPart and UploadPartCopy',
  's3:object-lock-legal-hold': '`ON` or `OFF`, if the request sets a legal hold',
  's3:object-lock-mode': '`GOVERNANCE` or `COMPLIANCE`, if the request sets a retention',
  's3:object-lock-remaining-retention-days':
    'the days from the time of arrival to the end of a retention that the request sets, rounded up',
  's3:object-lock-retain-until-date': 'the end of a retention that the request sets',
  's3:prefix': 'the prefix of a listing; the key, where permission to list decides between 404 and 403',
  's3:requestobjecttagkeys': 'the keys of the tags in the request, if the operation sets them',
  's3:resourceaccount': 'the project that owns the bucket, by its id or account number',
  's3:signatureage': 'the age of a signature of version 4 on arrival, in milliseconds',
  's3:signatureversion': '`AWS4-HMAC-SHA256` or `AWS`',
  's3:tlsversion': 'the version of TLS, such as `1.3`, if the client is connected to the service itself',
  's3:versionid': 'the requested version',
  's3:x-amz-acl': 'the canned ACL of the request',
  's3:x-amz-content-sha256': 'the header of the same name',
  's3:x-amz-copy-source': 'the source of a copy, `bucket/key`, for its target',
  's3:x-amz-grant-full-control': 'the header of the same name',
  's3:x-amz-grant-read': 'the header of the same name',
  's3:x-amz-grant-read-acp': 'the header of the same name',
  's3:x-amz-grant-write': 'the header of the same name',
  's3:x-amz-grant-write-acp': 'the header of the same name',
  's3:x-amz-metadata-directive': '`COPY` or `REPLACE`, for a copy',
  's3:x-amz-object-ownership': 'the header of the same name, for CreateBucket',
  's3:x-amz-server-side-encryption': 'the header of the same name',
  's3:x-amz-server-side-encryption-customer-algorithm': 'the header of the same name',
  's3:x-amz-storage-class': 'the header of the same name',
  's3:x-amz-website-redirect-location': 'the header of the same name',
  'sts:externalid': 'the `ExternalId` with which a role is assumed',
  'sts:rolesessionname': 'the `RoleSessionName` with which a role is assumed',
} as const;

export type ConditionKey = keyof typeof conditionKeys;

/** Condition keys that end with the key of a tag, which is case-sensitive. */
export const tagConditionKeys = {
  's3:existingobjecttag/': 'a tag of the existing object',
  's3:requestobjecttag/': 'a tag in the request, if the operation sets it',
} as const;

/**
 * Condition keys of AWS for what does not exist here. No request has a value for them, so that policies that name them are accepted, and
 * mean what they say.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
 */
export const absentConditionKeys = [
  'aws:assumedroot',
  'aws:calledvia',
  'aws:calledviafirst',
  'aws:calledvialast',
  'aws:chatbotsourcearn',
  'aws:ec2instancesourceprivateipv4',
  'aws:ec2instancesourcevpc',
  'aws:federatedprovider',
  'aws:multifactorauthage',
  'aws:multifactorauthpresent',
  'aws:principalorgid',
  'aws:principalorgpaths',
  'aws:principalservicenameslist',
  'aws:resourceorgid',
  'aws:resourceorgpaths',
  'aws:sourceidentity',
  'aws:sourceorgid',
  'aws:sourceorgpaths',
  'aws:sourceowner',
  'aws:sourcevpc',
  'aws:sourcevpcarn',
  'aws:sourcevpce',
  'aws:tagkeys',
  'aws:userid',
  'aws:vpceaccount',
  'aws:vpceorgid',
  'aws:vpceorgpaths',
  'aws:vpcsourceip',
  'ec2:roledelivery',
  'ec2:sourceinstancearn',
  's3:accessgrantsinstancearn',
  's3:accesspointnetworkorigin',
  's3:dataaccesspointaccount',
  's3:dataaccesspointarn',
  's3:destinationregion',
  's3:existingjoboperation',
  's3:existingjobpriority',
  's3:inventoryaccessibleoptionalfields',
  's3:isreplicationpauserequest',
  's3:jobsuspendedcause',
  's3:requestjoboperation',
  's3:requestjobpriority',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
] as const;

/** As {@link absentConditionKeys}, ending with the key of a tag. */
export const absentTagConditionKeys = [
  'aws:principaltag/',
  'aws:requesttag/',
  'aws:resourcetag/',
  's3:accesspointtag/',
  's3:buckettag/',
] as const;

/** The keys with one value that has two names, of which a condition may use either. A variable stands for the first. */
export const keysOfAccounts: ReadonlySet<string> = new Set<ConditionKey>([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:resourceaccount',
  'aws:sourceaccount',
  's3:resourceaccount',
]);

const plainKeys: ReadonlySet<string> = new Set([...Object.keys(conditionKeys), ...absentConditionKeys]);
const tagKeys: ReadonlySet<string> = new Set([...Object.keys(tagConditionKeys), ...absentTagConditionKeys]);

/** Tells whether requests may have a value for a condition key that {@link readConditionKey} returned. */
export function mayHaveValue(key: string): key is ConditionKey {
  return Object.hasOwn(conditionKeys, key);
}

/**
 * Normalises a condition key: lower case, `s3:` for `svc:`, with the key of a tag unchanged:
 * `s3:existingobjecttag/Team`.
 * @throws S3Error MalformedPolicy for an unknown key
 */
export function readConditionKey(text: string): string {
  const slash = text.indexOf('/') + 1;
  const name = (slash === 0 ? text : text.slice(0, slash)).toLowerCase().replace(/^svc:/, 's3:');
  const tag = slash === 0 ? '' : text.slice(slash);
  if (!(tag === '' ? plainKeys : tagKeys).has(name)) throw malformedPolicy('Policy has an invalid condition key', text);
  return name + tag;
}

/** The claims of a token of which a trust policy may speak, as `<provider>:<claim>`. */
const claimKey = /^[a-z0-9.-]+\.[a-z0-9-]+(?::\d{1,5})?(?:\/[^:]*)?:(?:aud|sub|azp|amr)$/;

/**
 * As {@link readConditionKey}, in the trust policy of a role: with the claims of tokens of OpenID Connect providers.
 * @throws S3Error MalformedPolicy for an unknown key
 */
export function readTrustKey(text: string): string {
  const name = text.toLowerCase();
  return claimKey.test(name) ? name : readConditionKey(text);
}

/**
 * Reads the text between `${` and `}`: a condition key, optionally with a default for requests without a value.
 * @throws S3Error MalformedPolicy
 */
export function readVariable(text: string): { readonly key: string; readonly fallback: string | undefined } {
  const comma = text.indexOf(',');
  if (comma < 0) return { key: readConditionKey(text), fallback: undefined };
  const fallback = /^'([^']*)'$/.exec(text.slice(comma + 1).trim())?.[1];
  if (fallback === undefined) throw malformedPolicy('Policy has an invalid variable', text);
  return { key: readConditionKey(text.slice(0, comma).trimEnd()), fallback };
}
