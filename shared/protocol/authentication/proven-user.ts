import type { AccessKeys, User } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';

/**
 * Returns the user whose key a request names, once its signature is verified.
 *
 * @param prove throws unless the signature was made with this secret
 * @throws S3Error InvalidAccessKeyId, UserSuspended, and the errors of `prove`
 */
export async function provenUser<Proof>(
  keys: AccessKeys,
  accessKeyId: string,
  prove: (secret: string) => Proof,
): Promise<{ readonly user: User; readonly proof: Proof }> {
  const key = await keys.find(accessKeyId);
  if (!key) throw new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } });
  const proof = prove(key.secret);
  // Only a caller who has the secret may learn that the key is suspended.
  if (key.suspended) throw new S3Error('UserSuspended');
  return { user: key.user, proof };
}
