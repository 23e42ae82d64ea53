import type { AccessKeys, User } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';

/**
 * The user whose key a request names, once the request has proved that it was signed with it.
 *
 * @param prove throws unless the signature is of this secret
 * @throws S3Error InvalidAccessKeyId, UserSuspended, and what `prove` throws
 */
export async function provenUser<Proof>(
  keys: AccessKeys,
  accessKeyId: string,
  prove: (secret: string) => Proof,
): Promise<{ readonly user: User; readonly proof: Proof }> {
  const key = await keys.find(accessKeyId);
  if (!key) throw new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } });
  const proof = prove(key.secret);
  // Only whoever holds the secret is told that the key is suspended.
  if (key.suspended) throw new S3Error('UserSuspended');
  return { user: key.user, proof };
}
