import { Match } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { inventory, resources, synthesise, type Synthesis } from './synthesis.ts';

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise([]);
});

describe('the data stack', () => {
  it('has these resources', () => {
    expect(inventory(synthesis.data)).toMatchSnapshot();
  });

  it('refuses to be deleted, and leaves everything behind if it is', () => {
    expect(synthesis.deployment.data.terminationProtection).toBe(true);
    const kept = resources(synthesis.data).filter(
      ([id, { Type }]) => Type !== 'AWS::S3::BucketPolicy' && !id.startsWith('EdgeSecret'),
    );
    expect(kept.map(([, { Type }]) => Type).toSorted()).toEqual([
      'AWS::DynamoDB::GlobalTable',
      'AWS::S3::Bucket',
      'AWS::SecretsManager::Secret',
    ]);
    for (const [, resource] of kept) {
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('leaves nothing behind where that is asked for', async () => {
    const { deployment, data } = await synthesise([], { context: { removalPolicy: 'destroy' } });
    expect(deployment.data.terminationProtection).toBe(false);
    for (const [, resource] of resources(data)) expect(resource.DeletionPolicy).not.toBe('Retain');
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', { Replicas: [{ DeletionProtectionEnabled: false }] });
  });

  it('has one table, on demand, with a feed, encrypted, protected, and restorable to any second', () => {
    synthesis.data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      // A local index would keep partitions from splitting, a second region would undo conditional writes.
      LocalSecondaryIndexes: Match.absent(),
      Replicas: [
        {
          Region: 'us-east-1',
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ],
    });
  });

  it('has a bucket for blobs that is closed to everybody else, encrypted and swept', () => {
    synthesis.data.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      VersioningConfiguration: Match.absent(),
      LifecycleConfiguration: {
        Rules: [{ Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } }],
      },
    });
  });

  it('lets nobody reach the blobs without TLS, or with an old one', () => {
    const denied = (Condition: object): object =>
      Match.objectLike({ Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' }, Condition });
    synthesis.data.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: [
          denied({ Bool: { 'aws:SecureTransport': 'false' } }),
          denied({ NumericLessThan: { 's3:TlsVersion': 1.2 } }),
        ],
      },
    });
  });

  it('makes a secret that nobody has ever seen', () => {
    synthesis.data.hasResourceProperties('AWS::SecretsManager::Secret', {
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
      SecretString: Match.absent(),
    });
  });
});
