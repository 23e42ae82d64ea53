import type { AccessKeys, Caller, Credential, User } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timing } from '../../signing/claim.ts';
import type { FormClaim } from '../../signing/form-claim.ts';
import type { PayloadHash } from '../../signing/v4/payload-hash.ts';
import type { SigningContext } from '../../signing/v4/sigv4.ts';
import type { DigestThreads } from '../bodies/body-digests.ts';
import type { OpenForm } from '../bodies/form.ts';
import type { Limits } from '../limits.ts';
import type { Payload } from '../bodies/payload.ts';
import type { BodyWants } from '../bodies/verified-body.ts';
import type { AuthenticatedRequest } from './authenticated-request.ts';

/** The signatures that a deployment accepts. */
export interface SigningSettings {
  /** The only region accepted. Undefined: any region. */
  readonly strictRegion?: string;
  /** False: V2 signatures are refused. They cover neither the body nor the whole query. */
  readonly version2?: boolean;
}

/** The dependencies of authentication. */
export interface AuthenticationDeps {
  readonly keys: AccessKeys;
  readonly clock: Clock;
  readonly settings: SigningSettings;
  /** Compute digests of large bodies. */
  readonly digestThreads?: DigestThreads | undefined;
  readonly limits: Pick<Limits, 'clockSkew' | 'presignedLifetime' | 'singleUploadBytes'>;
}

/** The operation's expectations of the verified body. */
export interface BodyExpectations extends BodyWants {
  /** Set if the body is a form: the maximum size without the content of its file, in bytes. */
  readonly formBytes?: number | undefined;
}

/** The caller of a request, and its verified body. */
export interface Authenticated {
  readonly caller: Caller;
  readonly scheme: AuthenticatedHead['scheme'] | FormClaim['scheme'];
  readonly request: AuthenticatedRequest;
  /** The body, or the file of a form. */
  readonly payload: Payload;
  /** To be closed by the operation that reads the form. */
  readonly form?: OpenForm;
}

/** The result of authenticating the head of a request. */
export interface AuthenticatedHead {
  readonly caller: Caller;
  readonly scheme: 'anonymous' | 'v4-header' | 'v4-presigned' | 'v2-header' | 'v2-presigned';
  readonly request: AuthenticatedRequest;
  readonly body: AnnouncedBytes;
}

/** A body that has not been read, and the parameters of its signature. */
interface AnnouncedBytes {
  /** As sent: only header fields describe a body, not query parameters in their place. */
  readonly message: Pick<RequestMessage, 'fields' | 'body'>;
  readonly hash: PayloadHash;
  /** The start of the chain of chunk signatures. Undefined: chunks cannot be signed. */
  readonly context?: SigningContext;
  /** True if the signature covers the body. */
  readonly isSigned: boolean;
}

/** Returns the current time and the limits for the times of signatures. */
export function timingOf({ clock, limits }: AuthenticationDeps): Timing {
  return { now: clock.now(), allowedSkew: limits.clockSkew, longestLifetime: limits.presignedLifetime };
}

/** Checks that the deployment accepts V2 signatures. @throws S3Error InvalidRequest */
export function checkVersion2({ version2 }: SigningSettings): void {
  if (version2 !== false) return;
  throw new S3Error('InvalidRequest', {
    message: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
  });
}

/**
 * Returns the user whose key a request names, once its signature is verified.
 *
 * @param prove throws unless the signature was made with this secret
 * @throws S3Error InvalidAccessKeyId, InvalidToken, ExpiredToken, UserSuspended, and the errors of `prove`
 */
export async function provenUser<Proof>(
  keys: AccessKeys,
  { accessKeyId, sessionToken }: Credential,
  prove: (secret: string) => Proof,
): Promise<{ readonly user: User; readonly proof: Proof }> {
  const key = await keys.find(accessKeyId, 'cached', sessionToken);
  if (!key) throw new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } });
  const proof = prove(key.secret);
  // Only a caller who has the secret may learn that the key is suspended.
  if (key.suspended) throw new S3Error('UserSuspended');
  return { user: key.user, proof };
}

const tokenName = 'x-amz-security-token';

/**
 * Returns the session token of a request. It is where the signature is, in a header or in the query, and covered by it.
 * @throws S3Error InvalidToken for a second one, or one elsewhere
 */
export function sessionTokenOf(
  scheme: AuthenticatedHead['scheme'],
  fields: Fields,
  { query }: Target,
): string | undefined {
  const inHeader = fields.all(tokenName);
  const inQuery = query.parameters.filter(({ name }) => name.toLowerCase() === tokenName).map(({ value }) => value);
  if (inHeader.length + inQuery.length > 1) throw new S3Error('InvalidToken');
  const isPresigned = scheme === 'v4-presigned' || scheme === 'v2-presigned';
  const [elsewhere, token] = isPresigned ? [inHeader[0], inQuery[0]] : [inQuery[0], inHeader[0]];
  if (elsewhere !== undefined) throw new S3Error('InvalidToken');
  return token;
}
