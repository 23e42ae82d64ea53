import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { deploymentKeys } from '../../../functions/cloud/deployment-keys.ts';
import { DynamoDbTable } from '../../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { Accounts } from '../../../shared/accounts/accounts.ts';
import { createBucket, createTable, dynamoDbAt, s3At } from './moto.ts';
import { accounts } from '../programs/server.ts';

const secret = 'A1b2C3d4'.repeat(8);
const edgeSecret = 'Z9y8X7w6'.repeat(8);

/** The names of a deployment's table, bucket and secrets. */
export interface CloudData {
  readonly Table: string;
  readonly Blobs: string;
  readonly Secret: string;
  readonly EdgeSecret: string;
}

/**
 * Creates the table, bucket and secrets of a deployment, with the accounts of tests.
 * @param hasStream whether the table has its stream
 */
export async function createCloudData(
  engine: string,
  names: CloudData,
  { hasStream = false, region = 'us-east-1' } = {},
): Promise<void> {
  await createTable(dynamoDbAt(engine, true), names.Table, hasStream);
  await createBucket(s3At(engine), names.Blobs);
  await createSecrets(engine, names, region);
  await declareAccounts(engine, names);
}

/** Returns a client in the name of an operator, who may do everything. */
export function secretsManagerAt(endpoint: string, region: string): SecretsManagerClient {
  const credentials = { accessKeyId: 'operator', secretAccessKey: '-' };
  return new SecretsManagerClient({ region, endpoint, credentials });
}

async function createSecrets(endpoint: string, names: CloudData, region: string): Promise<void> {
  const client = secretsManagerAt(endpoint, region);
  await client.send(new CreateSecretCommand({ Name: names.Secret, SecretString: secret }));
  await client.send(new CreateSecretCommand({ Name: names.EdgeSecret, SecretString: edgeSecret }));
  client.destroy();
}

async function declareAccounts(endpoint: string, names: CloudData): Promise<void> {
  const table = new DynamoDbTable({ tableName: names.Table, client: dynamoDbAt(endpoint, true) });
  const secrets = new AesSecrets(deploymentKeys(secret).sealing);
  const declared = new Accounts({ table, secrets, clock: new SystemClock() });
  for (const project of accounts) await declared.ensure(project);
  await table.close();
}
