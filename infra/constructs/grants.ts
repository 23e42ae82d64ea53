import { Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import type { Needs } from '../../shared/protocol/operation.ts';

/** The names of a table, which may be outside all stacks. */
export interface NamedTable {
  readonly tableName: string;
  readonly tableArn: string;
  readonly tableStreamArn: string;
}

/** The resources of grants. */
export interface Data {
  readonly table: NamedTable;
  readonly blobs: Bucket;
  readonly secret: Secret;
  readonly edgeSecret: Secret;
}

/** The key prefix of blobs in their bucket, as in the blob store. */
export const blobPrefix = 'blobs/';

/** Transactions have no actions of their own; each item needs its single-item action. */
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

/** Writing includes reading, as for the table, since copying bytes needs both. A multipart upload needs PutObject only. */
const blobActions = {
  read: ['s3:GetObject'],
  write: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'],
} as const satisfies Record<NonNullable<Needs['blobs']>, readonly string[]>;

/** Returns the permissions of a scrub: to read all data, or to repair it as well, but not to decrypt keys. */
export function scrubGrants({ table, blobs }: Data, may: 'read' | 'write'): PolicyStatement[] {
  const blobRights = may === 'read' ? ['s3:GetObject'] : ['s3:GetObject', 's3:DeleteObject'];
  return [
    allow('Table', [...tableActions[may], 'dynamodb:Scan'], table.tableArn),
    allow('Blobs', blobRights, blobs.arnForObjects(`${blobPrefix}*`)),
    allow('BlobBucket', ['s3:ListBucket'], blobs.bucketArn),
  ];
}

/**
 * Returns the permissions of a function: the declared needs of its operations, decrypting access keys, and recognising the
 * distribution.
 */
export function grantsOf(needs: Needs, { table, blobs, secret, edgeSecret }: Data): PolicyStatement[] {
  return [
    allow('Table', tableActions[needs.table], table.tableArn),
    ...(needs.blobs === undefined
      ? []
      : [
          allow('Blobs', blobActions[needs.blobs], blobs.arnForObjects(`${blobPrefix}*`)),
          // Without it, S3 answers 403 for a missing blob. The health check also checks the bucket.
          allow('BlobBucket', ['s3:ListBucket'], blobs.bucketArn),
        ]),
    allow('Secrets', ['secretsmanager:GetSecretValue'], secret.secretArn, edgeSecret.secretArn),
  ];
}

function allow(sid: string, actions: readonly string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ sid, actions: [...actions], resources });
}

/** Returns the name of a set of grants, `TableReadBlobsRead`, the same for equal needs. */
export function grantsName({ table, blobs }: Needs): string {
  const word = (access: string): string => access.charAt(0).toUpperCase() + access.slice(1);
  return `Table${word(table)}${blobs === undefined ? '' : `Blobs${word(blobs)}`}`;
}

/** Acknowledges cdk-nag's finding that a role with these grants reaches all blobs. */
export function acknowledgeBlobs(role: IConstruct, needs: Needs, { blobs }: Data): void {
  if (needs.blobs === undefined) return;
  const resource = `${exportName(blobs)}/${blobPrefix}*`;
  acknowledgeWildcard(role, resource, 'Blob names are random, and an operation serves all of them.');
}

/** Acknowledges a wildcard. @param resource as cdk-nag writes it: a value of another stack is the name of its export */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
}

/** Returns the name of the export of a bucket's ARN. */
function exportName(bucket: Bucket): string {
  const imported = bucket.stack.exportValue(bucket.bucketArn);
  return (bucket.stack.resolve(imported) as { 'Fn::ImportValue': string })['Fn::ImportValue'];
}
