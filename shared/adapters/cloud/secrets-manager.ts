import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/**
 * Time-outs in milliseconds for one attempt, of which the SDK makes three. Short, because the caller cannot continue
 * without the secret.
 */
const requestHandler = { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true };

/**
 * Reads a secret from AWS Secrets Manager by its name or ARN. Region, endpoint and credentials come from the
 * environment.
 */
export async function readManagedSecret(id: string): Promise<string> {
  return withClient((client) => valueOf(client, id));
}

/** Returns the current value of a secret and, if it was rotated, the previous one. */
export async function readNewestValues(id: string): Promise<readonly string[]> {
  return withClient(async (client) => {
    // In this order, a rotation in between returns the old value twice. The other way round would miss it.
    const current = await valueOf(client, id);
    const previous = await valueOf(client, id, 'AWSPREVIOUS').catch(noneIfMissing);
    return previous === undefined ? [current] : [current, previous];
  });
}

async function withClient<Result>(use: (client: SecretsManagerClient) => Promise<Result>): Promise<Result> {
  const client = new SecretsManagerClient({ requestHandler });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** @param VersionStage https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html */
async function valueOf(client: SecretsManagerClient, id: string, VersionStage = 'AWSCURRENT'): Promise<string> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id, VersionStage }));
  if (!SecretString) throw new Error(`the secret ${id} has no string value`);
  return SecretString;
}

function noneIfMissing(error: unknown): undefined {
  if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
  throw error;
}
