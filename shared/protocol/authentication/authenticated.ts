import type { AccessKeys, Caller } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { RequestMessage } from '../../http/message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timing } from '../../signing/claim.ts';
import type { FormClaim } from '../../signing/form-claim.ts';
import type { PayloadHash } from '../../signing/payload-hash.ts';
import type { SigningContext } from '../../signing/sigv4.ts';
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
