import { Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import type { Needs } from '../shared/protocol/operation.ts';

/** What is said of a table: names of it, which can be those of one that no stack holds. */
export interface NamedTable {
  readonly tableName: string;
  readonly tableArn: string;
  readonly tableStreamArn: string;
}

/** What grants are of. */
export interface Data {
  readonly table: NamedTable;
  readonly blobs: Bucket;
  readonly secret: Secret;
  readonly edgeSecret: Secret;
}

/** Where blobs lie in their bucket, as the blob store names them. */
export const blobPrefix = 'blobs/';

/** Transactions have no actions of their own: each of their items counts as the call it stands for. */
const tableActions = {
  read: ['dynamodb:GetItem', 'dynamodb:Query'],
  write: [
    'dynamodb:GetItem',
    'dynamodb:Query',
    'dynamodb:ConditionCheckItem',
    'dynamodb:PutItem',
    'dynamodb:DeleteItem',
  ],
} as const satisfies Record<Needs['table'], readonly string[]>;

/** Who writes may read too, as with the table: copying bytes takes both. A multipart upload needs no more than PutObject. */
const blobActions = {
  read: ['s3:GetObject'],
  write: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'],
} as const satisfies Record<NonNullable<Needs['blobs']>, readonly string[]>;

/** What a scrub may do with the data: look at all of it, and mend; but open no key. */
export function scrubGrants({ table, blobs }: Data): PolicyStatement[] {
  return [
    allow('Table', [...tableActions.write, 'dynamodb:Scan'], table.tableArn),
    allow('Blobs', ['s3:GetObject', 's3:DeleteObject'], blobs.arnForObjects(`${blobPrefix}*`)),
    allow('BlobBucket', ['s3:ListBucket'], blobs.bucketArn),
  ];
}

/**
 * What a function may do with the data: nothing but what its operation says it needs, opening access keys, and knowing the
 * distribution.
 */
export function grantsOf(needs: Needs, { table, blobs, secret, edgeSecret }: Data): PolicyStatement[] {
  return [
    allow('Table', tableActions[needs.table], table.tableArn),
    ...(needs.blobs === undefined
      ? []
      : [
          allow('Blobs', blobActions[needs.blobs], blobs.arnForObjects(`${blobPrefix}*`)),
          // Without it S3 says of a missing blob that access is denied; and the health check asks whether the bucket is there.
          allow('BlobBucket', ['s3:ListBucket'], blobs.bucketArn),
        ]),
    allow('Secrets', ['secretsmanager:GetSecretValue'], secret.secretArn, edgeSecret.secretArn),
  ];
}

function allow(sid: string, actions: readonly string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ sid, actions: [...actions], resources });
}

/** Names a set of grants, `TableReadBlobsRead`: operations with the same needs have the same. */
export function grantsName({ table, blobs }: Needs): string {
  const word = (access: string): string => access.charAt(0).toUpperCase() + access.slice(1);
  return `Table${word(table)}${blobs === undefined ? '' : `Blobs${word(blobs)}`}`;
}

/** Says beside a role that has the grants of these needs why it may reach all blobs. */
export function acknowledgeBlobs(role: IConstruct, needs: Needs, { blobs }: Data): void {
  if (needs.blobs === undefined) return;
  const resource = `${exportName(blobs)}/${blobPrefix}*`;
  acknowledgeWildcard(role, resource, 'The names of blobs are random, and an operation serves all of them.');
}

/** @param resource as cdk-nag writes it: a value of another stack is the name of its export */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
}

/** The name under which the ARN of a bucket comes from its stack. */
function exportName(bucket: Bucket): string {
  const imported = bucket.stack.exportValue(bucket.bucketArn);
  return (bucket.stack.resolve(imported) as { 'Fn::ImportValue': string })['Fn::ImportValue'];
}
