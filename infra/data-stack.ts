import { Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { NamedTable } from './grants.ts';
import type { Settings } from './settings.ts';

export interface DataStackProps extends StackProps {
  readonly settings: Settings;
}

/**
 * What a deployment keeps: the table, the blobs and the secret that seals access keys. Each is useless without the others, so
 * all of them outlive their stack, which itself refuses to be deleted, unless the settings say that nothing is to be kept.
 */
export class DataStack extends Stack {
  /** The table that is used: the one made here, or one that was restored from it. */
  readonly table: NamedTable;
  readonly blobs: Bucket;
  readonly secret: Secret;
  /** By which the distribution proves itself to what lies behind it. */
  readonly edgeSecret: Secret;
  readonly #removalPolicy: RemovalPolicy;

  constructor(scope: Construct, id: string, { settings, ...props }: DataStackProps) {
    const isKept = settings.removalPolicy === 'retain';
    super(scope, id, { ...props, terminationProtection: isKept });
    this.#removalPolicy = isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const own = this.#table();
    this.table = settings.restoredTable === undefined ? own : restored(settings.restoredTable);
    this.blobs = this.#blobs();
    this.secret = this.#secret();
    this.edgeSecret = this.#edgeSecret();
  }

  #table(): NamedTable {
    const { tableName, tableArn, tableStreamArn } = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      // What monitoring and links leave behind; the schedules remove it, too, where that is not switched on.
      timeToLiveAttribute: 'expires',
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryptionV2.awsManagedKey(),
      deletionProtection: this.#removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy: this.#removalPolicy,
    });
    const table = { tableName, tableArn, tableStreamArn: tableStreamArn! };
    // Also where nobody imports them: CloudFormation refuses to take an export away that stacks which are deployed after this one
    // still import. So a restored table comes, and goes again, in one deployment of all stacks (docs/adr/0034-restored-table.md).
    for (const value of Object.values(table)) this.exportValue(value);
    return table;
  }

  #blobs(): Bucket {
    const bucket = new Bucket(this, 'Blobs', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // A blob is never overwritten, and what is released must be gone.
      versioned: false,
      lifecycleRules: [{ id: 'unfinished-blobs', abortIncompleteMultipartUploadAfter: Duration.days(7) }],
      removalPolicy: this.#removalPolicy,
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Only functions read and write blobs, one request each; their own request log names caller and bucket.',
    });
    return bucket;
  }

  #secret(): Secret {
    const secret = new Secret(this, 'Secret', {
      description:
        'Stillage: seals access keys and binds continuation tokens. Without it no access key can be verified.',
      // 64 letters and digits: 381 bits.
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: this.#removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Every access key is sealed under it: a new value would make all of them unreadable.',
    });
    return secret;
  }

  /** It keeps nothing. A process reads it again at a proof that it does not know, so a new value takes a deployment of the distribution alone. */
  #edgeSecret(): Secret {
    const secret = new Secret(this, 'EdgeSecret', {
      description: 'Stillage: by which the distribution proves itself to the functions and the byte lane.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A new value takes a deployment of the distribution: docs/cloud-operations.md says how it is renewed.',
    });
    return secret;
  }
}

/** @param streamArn `arn:aws:dynamodb:<region>:<account>:table/<name>/stream/<label>` */
function restored(streamArn: string): NamedTable {
  const [tableArn, tableName] = /^.*:table\/([^/]+)/.exec(streamArn) as unknown as [string, string];
  return { tableArn, tableName, tableStreamArn: streamArn };
}
