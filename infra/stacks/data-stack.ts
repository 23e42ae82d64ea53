import { Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { NamedTable } from '../constructs/grants.ts';
import { exportForGood } from '../constructs/lasting-exports.ts';
import type { Settings } from '../settings.ts';

export interface DataStackProps extends StackProps {
  readonly settings: Settings;
}

/**
 * The data of a deployment: the table, the blobs, and the secret that encrypts access keys. Each is useless without the others, so
 * all are retained and the stack has termination protection, unless the settings say otherwise.
 */
export class DataStack extends Stack {
  /** The table in use: that of this stack, or one restored from it. */
  readonly table: NamedTable;
  readonly blobs: Bucket;
  readonly secret: Secret;
  /** The origin secret, which the distribution adds to requests. */
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
    exportForGood(this.blobs, this.blobs.bucketName, this.blobs.bucketArn);
    for (const secret of [this.secret, this.edgeSecret]) exportForGood(secret, secret.secretArn);
  }

  #table(): NamedTable {
    const resource = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      // Removes expired items of monitoring and public links. Without it, the schedules do.
      timeToLiveAttribute: 'expires',
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryptionV2.awsManagedKey(),
      deletionProtection: this.#removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy: this.#removalPolicy,
    });
    const { tableName, tableArn } = resource;
    const table = { tableName, tableArn, tableStreamArn: resource.tableStreamArn! };
    // Also while a restored table is used, so that one deployment brings it and another takes it away: docs/adr/0034-restored-table.md
    exportForGood(resource, ...Object.values(table));
    return table;
  }

  #blobs(): Bucket {
    const bucket = new Bucket(this, 'Blobs', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // Blobs are never overwritten, and released ones must be deleted.
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
      reason: 'Every access key is encrypted with it: a new value would make all of them unreadable.',
    });
    return secret;
  }

  /** No data depends on it. Processes read it again when they see an unknown value, so a rotation deploys the distribution only. */
  #edgeSecret(): Secret {
    const secret = new Secret(this, 'EdgeSecret', {
      description: 'Stillage: by which the distribution proves itself to the functions and the byte lane.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A rotation needs a deployment of the distribution, as docs/cloud-operations.md describes.',
    });
    return secret;
  }
}

/** @param streamArn `arn:aws:dynamodb:<region>:<account>:table/<name>/stream/<label>` */
function restored(streamArn: string): NamedTable {
  const [tableArn, tableName] = /^.*:table\/([^/]+)/.exec(streamArn) as unknown as [string, string];
  return { tableArn, tableName, tableStreamArn: streamArn };
}
