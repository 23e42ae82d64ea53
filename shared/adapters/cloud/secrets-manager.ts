import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Reads a secret of AWS Secrets Manager by its name or ARN. Region, endpoint and credentials come from the environment. */
export async function readManagedSecret(id: string): Promise<string> {
  return withClient((client) => valueOf(client, id));
}

/** The value of a secret now, and the one before it, if it was renewed since it was made. */
export async function readNewestValues(id: string): Promise<readonly string[]> {
  return withClient(async (client) => {
    const [current, previous] = await Promise.all([
      valueOf(client, id),
      valueOf(client, id, 'AWSPREVIOUS').catch(noneIfMissing),
    ]);
    return previous === undefined ? [current] : [current, previous];
  });
}

async function withClient<Result>(use: (client: SecretsManagerClient) => Promise<Result>): Promise<Result> {
  const client = new SecretsManagerClient({});
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** @param VersionStage https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html */
async function valueOf(client: SecretsManagerClient, id: string, VersionStage = 'AWSCURRENT'): Promise<string> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id, VersionStage }));
  if (!SecretString) throw new Error(`the secret ${id} has no text`);
  return SecretString;
}

function noneIfMissing(error: unknown): undefined {
  if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
  throw error;
}
