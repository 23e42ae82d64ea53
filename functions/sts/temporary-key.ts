import type { Session, SessionOfRole, SessionOfUser, TemporaryKey } from '../../shared/access/session-tokens.ts';
import type { User } from '../../shared/access/identity.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Services } from '../../shared/protocol/operation.ts';
import { number, otherwise } from '../../shared/protocol/query-api/parameters.ts';

const hour = 3600;

/** How long a key of a user is to last. */
export const duration = otherwise(12 * hour, number({ least: 900, most: 36 * hour }));

type Deps = Pick<Services, 'clock' | 'sessions'>;

/**
 * Makes a temporary key that ends with the caller's own, which is permanent.
 * @throws S3Error AccessDenied, PackedPolicyTooLarge
 */
export async function temporaryKey(
  seconds: number,
  session: Pick<SessionOfUser, 'kind' | 'name' | 'policies'>,
  { caller, ...deps }: Deps & { readonly caller: User },
) {
  if (caller.session) {
    throw new S3Error('AccessDenied', { message: 'A temporary key cannot make another one' });
  }
  return begun({ ...session, parent: caller.accessKeyId, ...timesOf(seconds, deps) }, deps);
}

/** Makes a temporary key of a role. @throws S3Error PackedPolicyTooLarge */
export async function keyOfRole(
  seconds: number,
  session: Pick<SessionOfRole, 'role' | 'name' | 'policies'>,
  deps: Deps,
) {
  return begun({ kind: 'role', ...session, ...timesOf(seconds, deps) }, deps);
}

function timesOf(seconds: number, { clock }: Deps): Pick<Session, 'issued' | 'expires'> {
  const issued = clock.now();
  return { issued, expires: Math.floor(issued / 1000 + seconds) * 1000 };
}

async function begun(session: Session, { sessions }: Deps) {
  const made = await sessions.begin(session);
  return { packedSize: made.packedSize, Credentials: shownKey(made, session) };
}

function shownKey({ accessKeyId, secretAccessKey, sessionToken }: TemporaryKey, { expires }: Session) {
  return {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    SessionToken: sessionToken,
    Expiration: expires,
  };
}
