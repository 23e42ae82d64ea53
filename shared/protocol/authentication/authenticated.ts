import type { AccessKeys, Caller } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { RequestMessage } from '../../http/message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timing } from '../../signing/claim.ts';
import type { FormClaim } from '../../signing/form-claim.ts';
import type { PayloadHash } from '../../signing/payload-hash.ts';
import type { SigningContext } from '../../signing/sigv4.ts';
import type { OpenForm } from '../bodies/form.ts';
import type { Limits } from '../limits.ts';
import type { Payload } from '../bodies/payload.ts';
import type { BodyWants } from '../bodies/verified-body.ts';
import type { AuthenticatedRequest } from './authenticated-request.ts';

/** How a deployment takes signatures. */
export interface SigningSettings {
  /** The only region that is accepted. Unset: whatever region the client believes in. */
  readonly strictRegion?: string;
  /** False: signatures of version 2 are refused. They do not cover the body, and not all of the query. */
  readonly version2?: boolean;
}

/** The dependencies of authentication. */
export interface AuthenticationDeps {
  readonly keys: AccessKeys;
  readonly clock: Clock;
  readonly settings: SigningSettings;
  readonly limits: Pick<Limits, 'clockSkew' | 'presignedLifetime'>;
}

/** What an operation expects of the verified body. */
export interface BodyExpectations extends BodyWants {
  /** Set if the body is a form: the most bytes it may have beside the content of its file. */
  readonly formBytes?: number;
}

/** Who sent a request, and its verified body. */
export interface Authenticated {
  readonly caller: Caller;
  readonly scheme: AuthenticatedHead['scheme'] | FormClaim['scheme'];
  readonly request: AuthenticatedRequest;
  /** The body; of a form, the file. */
  readonly payload: Payload;
  /** Whoever gets a form closes it. */
  readonly form?: OpenForm;
}

/** What the head of a request alone tells. */
export interface AuthenticatedHead {
  readonly caller: Caller;
  readonly scheme: 'anonymous' | 'v4-header' | 'v4-presigned' | 'v2-header' | 'v2-presigned';
  readonly request: AuthenticatedRequest;
  readonly body: AnnouncedBytes;
}

/** A body that nobody has read yet, and what its signature says of it. */
interface AnnouncedBytes {
  /** As sent: the header fields alone announce a body, whatever a query has in their place. */
  readonly message: Pick<RequestMessage, 'fields' | 'body'>;
  readonly hash: PayloadHash;
  /** Where the signatures of chunks start from; undefined if they cannot be signed. */
  readonly context?: SigningContext;
  /** Whether the signature is also one of the body. */
  readonly isSigned: boolean;
}

/** What the times of signatures are judged by at this moment. */
export function timingOf({ clock, limits }: AuthenticationDeps): Timing {
  return { now: clock.now(), allowedSkew: limits.clockSkew, longestLifetime: limits.presignedLifetime };
}

/** @throws S3Error InvalidRequest if the deployment takes no signatures of version 2 */
export function checkVersion2({ version2 }: SigningSettings): void {
  if (version2 !== false) return;
  throw new S3Error('InvalidRequest', {
    message: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
  });
}
