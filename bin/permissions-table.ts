// Writes docs/permissions.md: `node --import tsx bin/permissions-table.ts > docs/permissions.md`.
import { fileURLToPath } from 'node:url';
import { operations } from '../functions/operations.ts';
import type { Question } from '../shared/access/authorise.ts';
import { conditionKeys, tagConditionKeys } from '../shared/access/policy-keys.ts';
import { needOf, writing } from '../shared/access/rights.ts';
import { S3Error } from '../shared/errors/s3-error.ts';
import { Fields } from '../shared/http/message.ts';
import { Query } from '../shared/http/query.ts';
import { defaultLimits } from '../shared/protocol/limits.ts';
import type { AnyOperation } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/routes.ts';

/** One right that an operation needs. */
export interface Permission {
  readonly operation: OperationName;
  readonly question: Question;
  /** For which requests; empty: for all. */
  readonly when: string;
}

interface Sample {
  readonly when: string;
  /** For which requests a right is needed that these do not need. */
  readonly otherwise: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that has whatever any operation must have. */
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
  },
};

/** What a request may have besides that changes what it needs. */
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
    when: 'with an ACL other than `private`',
    otherwise: 'without an ACL',
    query: plain.query,
    headers: { ...plain.headers, 'x-amz-acl': 'public-read' },
  },
];

/** What is asked only when the operation has read something: it stands in its `act`. */
const askedLater: readonly Permission[] = [
  later('CopyObject', 'GetObjectTagging', 'the source has tags, and they are copied', 'source-bucket', 'source-key'),
  later('CopyObject', 'GetObjectVersionTagging', 'the same, from a version', 'source-bucket', 'source-key'),
  later('DeleteObjects', 'DeleteObject', 'for each key', 'bucket', 'key'),
  later('DeleteObjects', 'DeleteObjectVersion', 'for each version', 'bucket', 'key'),
  later('GetWebsitePage', 'GetObject', 'for the page, the index document and the error document', 'bucket', 'key'),
];

function later(operation: OperationName, action: string, when: string, bucket: string, key: string): Permission {
  return { operation, question: { action, bucket, key }, when };
}

/** For whoever comes: these ask for no rights. */
export const forAnybody: ReadonlySet<string> = new Set(['GetHealth', 'GetLiveness', 'GetPublicLink', 'Preflight']);

/** The rights that every operation needs, as its own `authorise` says for requests of each kind. */
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
  // What a form is to store is said by its fields, not by the head of its request.
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
  // What is asked before the keys are known stands below, for each of them.
  return operation.authorise(operation.parse(head), head).filter(({ anyKey }) => anyKey !== true);
}

/** As {@link ask}. An operation that refuses a query is asked with the usual one: a copy is of a version, but not into one. */
function askOneOf(operation: AnyOperation, variant: Sample): readonly Question[] {
  try {
    return ask(operation, variant);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return ask(operation, { ...variant, query: plain.query });
  }
}

/** The page as Markdown. */
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
a policy statement that denies, one that allows, ownership of the bucket or the object, ACLs
([ADR 27](adr/0027-one-authorisation-function.md)). The last column is what an ACL must grant, or what else the caller must have, if
neither a policy nor ownership allows the request. If it is empty, only the owner of the bucket has the right.

| operation | action | resource | when | otherwise needed |
|---|---|---|---|---|
${rows.join('\n')}

## Condition keys

\`svc:\` may replace \`s3:\`. Condition keys are case-insensitive, except for the key of a tag.

| condition key | value |
|---|---|
${Object.entries(conditionKeys).map(keyRow).join('\n')}
${Object.entries(tagConditionKeys)
  .map(([key, meaning]) => keyRow([`${key}<key of the tag>`, meaning]))
  .join('\n')}
`;
}

function resource({ bucket, key }: Question): string {
  if (bucket === undefined) return '';
  return `\`${bucket}${key === undefined ? '' : `/${key}`}\``;
}

/** What of an ACL lets somebody do it, or what else. */
function grant({ action, isNew, unlessDenied }: Question): string {
  if (unlessDenied) return 'nothing, unless a policy denies it';
  const need = isNew ? writing : needOf(action);
  switch (need.on) {
    case 'service':
      return need.by === 'users' ? 'an access key' : 'nothing';
    case 'owner':
      return need.privilege === undefined
        ? "to be a user of the owner's project"
        : `to be a user of the owner's project with the privilege \`${need.privilege}\``;
    case 'upload':
      return 'to have started the upload';
    case 'bucket':
      return need.permission === 'none' ? '' : `${need.permission} on the bucket`;
    case 'object': {
      if (need.permission === 'none') return 'to own the object';
      const orBucket = need.orBucket === undefined ? '' : `, or ${need.orBucket} on the bucket`;
      return `${need.permission} on the object${orBucket}`;
    }
  }
}

function keyRow([key, meaning]: readonly [string, string]): string {
  return `| \`${key}\` | ${meaning} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(permissionsPage());
