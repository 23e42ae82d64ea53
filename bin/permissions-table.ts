// Writes docs/permissions.md: `node --import tsx bin/permissions-table.ts > docs/permissions.md`.
import { fileURLToPath } from 'node:url';
import { operations } from '../functions/operations.ts';
import type { Question } from '../shared/access/authorise.ts';
import {
  absentConditionKeys,
  absentTagConditionKeys,
  conditionKeys,
  tagConditionKeys,
} from '../shared/access/policy-keys.ts';
import { needOf, writing } from '../shared/access/rights.ts';
import { S3Error } from '../shared/errors/s3-error.ts';
import { Fields } from '../shared/http/message.ts';
import { Query } from '../shared/http/query.ts';
import { defaultLimits } from '../shared/protocol/limits.ts';
import type { AnyOperation } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/operation-table.ts';

/** A permission that an operation needs. */
export interface Permission {
  readonly operation: OperationName;
  readonly question: Question;
  /** The condition on the request; empty: always. */
  readonly when: string;
}

interface Sample {
  readonly when: string;
  /** The condition for permissions that this kind of request does not need. */
  readonly otherwise: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request with all fields that any operation requires. */
const plain: Sample = {
  when: '',
  otherwise: '',
  query: [
    'uploadId=upload&partNumber=1&name=name&id=id&metric=BucketSizeBytes&statistic=Average&period=300',
    'start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z',
  ].join('&'),
  headers: {
    'content-length': '0',
    'x-amz-copy-source': 'source-bucket/source-key',
    'x-amz-object-attributes': 'ETag',
    'x-amz-rename-source': 'source-key',
    'x-amz-target': 'CloudTrail_20131101.LookupEvents',
  },
};

/** Optional parts of a request that change the permissions it needs. */
const variants: readonly Sample[] = [
  {
    when: 'with `versionId`',
    otherwise: 'without `versionId`',
    query: `${plain.query}&versionId=null`,
    headers: plain.headers,
  },
  {
    when: 'from a version of the source',
    otherwise: 'from the current version of the source',
    query: plain.query,
    headers: { ...plain.headers, 'x-amz-copy-source': 'source-bucket/source-key?versionId=null' },
  },
  {
    when: 'with tags',
    otherwise: 'without tags',
    query: plain.query,
    headers: { ...plain.headers, 'x-amz-tagging': 'a=b', 'x-amz-tagging-directive': 'REPLACE' },
  },
  {
    when: 'with `If-Match`, or other conditions that compare',
    otherwise: 'without conditions',
    query: plain.query,
    headers: { ...plain.headers, 'if-match': '*' },
  },
  {
    when: 'with an ACL other than `private`',
    otherwise: 'without an ACL',
    query: plain.query,
    headers: { ...plain.headers, 'x-amz-acl': 'public-read' },
  },
  {
    when: 'with a retention',
    otherwise: 'without a retention',
    query: plain.query,
    headers: {
      ...{ ...plain.headers, 'content-md5': 'rL0Y20zC+Fzt72VPzMSk2A==' },
      ...{ 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': '2100-01-01T00:00:00Z' },
    },
  },
  {
    when: 'with a legal hold',
    otherwise: 'without a legal hold',
    query: plain.query,
    headers: { ...plain.headers, 'content-md5': 'rL0Y20zC+Fzt72VPzMSk2A==', 'x-amz-object-lock-legal-hold': 'ON' },
  },
  {
    when: 'with `x-amz-bypass-governance-retention: true`',
    otherwise: 'without `x-amz-bypass-governance-retention`',
    query: plain.query,
    headers: { ...plain.headers, 'x-amz-bypass-governance-retention': 'true' },
  },
];

/** Permissions that depend on stored data, which operations check in `act`. */
const askedLater: readonly Permission[] = [
  later('CopyObject', 'GetObjectTagging', 'the source has tags, and they are copied', 'source-bucket', 'source-key'),
  later('CopyObject', 'GetObjectVersionTagging', 'the same, from a version', 'source-bucket', 'source-key'),
  later(
    'DeleteObject',
    'BypassGovernanceRetention',
    'with `versionId` and `x-amz-bypass-governance-retention: true`',
    'bucket',
    'key',
  ),
  later('DeleteObject', 'GetObjectVersion', 'the same, with `versionId`', 'bucket', 'key'),
  later('DeleteObjects', 'DeleteObject', 'for each key', 'bucket', 'key'),
  later('DeleteObjects', 'DeleteObjectVersion', 'for each version', 'bucket', 'key'),
  later('DeleteObjects', 'GetObject', 'for each key with conditions', 'bucket', 'key'),
  later(
    'DeleteObjects',
    'BypassGovernanceRetention',
    'for each version, with `x-amz-bypass-governance-retention: true`',
    'bucket',
    'key',
  ),
  later('DeleteObjects', 'GetObjectVersion', 'for each version with conditions', 'bucket', 'key'),
  ...(['GetObject', 'HeadObject'] as const).flatMap((operation) => [
    later(operation, 'GetObjectRetention', 'to be told the retention, if there is one', 'bucket', 'key'),
    later(operation, 'GetObjectLegalHold', 'to be told the legal hold, if there is one', 'bucket', 'key'),
  ]),
  later('GetWebsitePage', 'GetObject', 'for the page, the index document and the error document', 'bucket', 'key'),
];

function later(
  operation: OperationName,
  action: Question['action'],
  when: string,
  bucket: string,
  key: string,
): Permission {
  return { operation, question: { action, bucket, key }, when };
}

/** Operations that need no permissions. */
export const forAnybody: ReadonlySet<string> = new Set([
  ...['GetHealth', 'GetLiveness', 'GetPublicLink', 'Preflight'],
  // Each of its actions has rights of its own.
  'Iam',
  'Sts',
]);

/** Returns the permissions of every operation, from its `authorise` for each kind of request. */
export function permissions(): readonly Permission[] {
  return [...operations.values()]
    .filter(({ name }) => !forAnybody.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((operation) => [
      ...permissionsOf(operation),
      ...askedLater.filter((permission) => permission.operation === operation.name),
    ]);
}

function permissionsOf(operation: AnyOperation): readonly Permission[] {
  const asked = ask(operation, plain);
  const askedOf = variants.map((variant) => ({ ...variant, questions: askOneOf(operation, variant) }));
  const usual = asked.map((question) => {
    const exception = askedOf.find(({ questions }) => !has(questions, question));
    return { question, when: exception?.otherwise ?? '' };
  });
  const further = askedOf.flatMap(({ when, questions }) =>
    questions.filter((question) => !has(asked, question)).map((question) => ({ question, when })),
  );
  return [...usual, ...further].map((one) => ({ operation: operation.name, ...one }));
}

function has(questions: readonly Question[], { action, bucket, key }: Question): boolean {
  return questions.some((one) => one.action === action && one.bucket === bucket && one.key === key);
}

function ask(operation: AnyOperation, { query, headers }: Sample): readonly Question[] {
  const given = new Fields(Object.entries(headers));
  // Form fields take the place of headers.
  const fields = operation.body === 'form' ? new Fields() : given;
  const head = {
    bucket: 'bucket',
    key: 'key',
    path: '/key',
    method: 'GET',
    query: Query.parse(query),
    fields,
    form: { fields: new Fields([['key', 'key']]), key: 'key', headers: given },
    secure: true,
    remoteAddress: '192.0.2.1',
    settings: { region: '', xmlNamespace: '', allUsersGroupUri: '', limits: defaultLimits, tokenKey: new Uint8Array() },
    virtualHost: false,
    signed: true,
  };
  // Questions before the keys are known are repeated below for each key.
  const conditions: unknown = operation.conditions?.read(given);
  return operation.authorise(operation.parse(head, conditions), head, noBody).filter(({ anyKey }) => anyKey !== true);
}

function noBody(): never {
  throw new Error('only a policy asks for the body');
}

/** Returns the same as {@link ask}. If an operation refuses a query, uses the default one: CopyObject takes no `versionId`. */
function askOneOf(operation: AnyOperation, variant: Sample): readonly Question[] {
  try {
    return ask(operation, variant);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return ask(operation, { ...variant, query: plain.query });
  }
}

/** Returns the page in Markdown. */
export function permissionsPage(): string {
  const rows = permissions().map(({ operation, question, when }, at, all) => {
    const name = all[at - 1]?.operation === operation ? '' : operation;
    return `| ${name} | ${question.action} | ${resource(question)} | ${when} | ${grant(question)} |`;
  });
  return `# Permissions

<!-- Generated, and a test holds it: node --import tsx bin/permissions-table.ts > docs/permissions.md -->

## Rights that each operation needs

In a bucket policy, prefix the action with \`s3:\` or \`svc:\`, and the resource with \`arn:aws:s3:::\` or \`arn:svc:svc:::\`. An
operation with several rows needs all that apply to the request. [One function](../shared/access/authorise.ts) decides, in this order:
the user's own policies ([ADR 80](adr/0080-identity-policies.md)), in which Stillage's own actions have the prefix \`stillage:\`;
a statement of the bucket's policy that denies, one that allows, ownership of the bucket or the object, ACLs
([ADR 27](adr/0027-one-authorisation-function.md)). The last column is what an ACL must grant, or what else the caller must have, if
neither a policy nor ownership allows the request. If it is empty, only the owner of the bucket has the right.

| operation | action | resource | when | otherwise needed |
|---|---|---|---|---|
${rows.join('\n')}

## Condition keys

\`svc:\` may replace \`s3:\`. Condition keys are case-insensitive, except for the key of a tag. Their values
are what the operation will do. A header, form field or parameter that it ignores is no value: \`x-amz-copy-source\` in a form,
\`x-amz-tagging\` on a copy that keeps the tags of its source, encryption headers on a rename.

| condition key | value |
|---|---|
${Object.entries(conditionKeys).map(keyRow).join('\n')}
${Object.entries(tagConditionKeys)
  .map(([key, meaning]) => keyRow([`${key}<key of the tag>`, meaning]))
  .join('\n')}

These keys of AWS are accepted and absent: there is nothing here that could have a value for them. A condition on one is never met, but for
\`Null\` with \`true\`, \`…IfExists\`, \`ForAllValues:\` and negated operators, as in AWS:
${[...absentConditionKeys, ...absentTagConditionKeys.map((key) => `${key}<key of the tag>`)].map((key) => `\`${key}\``).join(', ')}.
`;
}

function resource({ bucket, key }: Question): string {
  if (bucket === undefined) return '';
  return `\`${bucket}${key === undefined ? '' : `/${key}`}\``;
}

/** Returns the ACL permission that grants the action, or another way. */
function grant({ action, isNew, unlessDenied }: Question): string {
  if (unlessDenied) return 'nothing, unless a policy denies it';
  const need = isNew ? writing : needOf(action);
  switch (need.on) {
    case 'oneself':
      return 'an access key';
    case 'service':
      return need.by === 'users' ? 'an access key' : 'nothing';
    case 'owner':
      return need.privilege === undefined
        ? "to be a user of the owner's project"
        : `to be a user of the owner's project with the privilege \`${need.privilege}\``;
    case 'role':
      return 'to be trusted by the role';
    case 'upload':
      return 'to have started the upload';
    case 'bucket':
      return need.permission === 'none' ? '' : `${need.permission} on the bucket`;
    case 'object':
      return need.permission === 'none' ? 'to own the object' : `${need.permission} on the object`;
  }
}

function keyRow([key, meaning]: readonly [string, string]): string {
  return `| \`${key}\` | ${meaning} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(permissionsPage());
