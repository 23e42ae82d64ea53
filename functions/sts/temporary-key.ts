import type { Session } from '../../shared/access/session-tokens.ts';
import type { User } from '../../shared/access/identity.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Services } from '../../shared/protocol/operation.ts';
import { number, otherwise } from '../../shared/protocol/query-api/parameters.ts';

const hour = 3600;

/** How long a key is to last. */
export const duration = otherwise(12 * hour, number({ least: 900, most: 36 * hour }));

/**
 * Makes a temporary key that ends with the caller's own, which is permanent.
 * @throws S3Error AccessDenied, PackedPolicyTooLarge
 */
export async function temporaryKey(
  seconds: number,
  session: Pick<Session, 'kind' | 'name' | 'policies'>,
  { caller, clock, sessions }: Pick<Services, 'clock' | 'sessions'> & { readonly caller: User },
) {
  if (caller.session) {
    throw new S3Error('AccessDenied', { message: 'A temporary key cannot make another one' });
  }
  const expires = Math.floor(clock.now() / 1000 + seconds) * 1000;
  const { packedSize, ...made } = await sessions.begin({ ...session, parent: caller.accessKeyId, expires });
  return {
    packedSize,
    Credentials: {
      AccessKeyId: made.accessKeyId,
      SecretAccessKey: made.secretAccessKey,
      SessionToken: made.sessionToken,
      Expiration: expires,
    },
  };
}
