import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Reads a secret of AWS Secrets Manager by its name or ARN. Region, endpoint and credentials come from the environment. */
export async function readManagedSecret(id: string): Promise<string> {
  const client = new SecretsManagerClient({});
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    if (!SecretString) throw new Error(`the secret ${id} has no text`);
    return SecretString;
  } finally {
    client.destroy();
  }
}
