import { Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';

/**
 * What a deployment keeps: the table, the blobs and the secret that seals access keys. Each is useless without the others, so
 * all of them outlive their stack, which itself refuses to be deleted.
 */
export class DataStack extends Stack {
  readonly table: TableV2;
  readonly blobs: Bucket;
  readonly secret: Secret;

  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, { ...props, terminationProtection: true });
    this.table = this.#table();
    this.blobs = this.#blobs();
    this.secret = this.#secret();
  }

  #table(): TableV2 {
    return new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryptionV2.awsManagedKey(),
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
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
      removalPolicy: RemovalPolicy.RETAIN,
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
      removalPolicy: RemovalPolicy.RETAIN,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Every access key is sealed under it: a new value would make all of them unreadable.',
    });
    return secret;
  }
}
