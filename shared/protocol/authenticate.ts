import { anonymous, type AccessKeys, type Caller } from '../access/identity.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Target } from '../http/address.ts';
import type { Fields, RequestMessage } from '../http/message.ts';
import type { Clock } from '../ports/clock.ts';
import { readAuthorizationHeader } from '../signing/authorization-header.ts';
import { checkRegion, refuseUnsignedHeaders, type SignatureClaim } from '../signing/claim.ts';
import type { FormClaim } from '../signing/form-claim.ts';
import { parsePayloadHash } from '../signing/payload-hash.ts';
import { readPresignedQuery } from '../signing/presigned.ts';
import { recogniseScheme } from '../signing/scheme.ts';
import { verifySignature } from '../signing/sigv4.ts';
import { authenticateForm } from './authenticate-form.ts';
import type { OpenForm } from './form.ts';
import type { Payload } from './payload.ts';
import { provenUser } from './proven-user.ts';
import { VerifiedBody, type BodyWants } from './verified-body.ts';

/** How a deployment takes signatures. */
export interface SigningSettings {
  /** The only region that is accepted. Unset: whatever region the client believes in. */
  readonly strictRegion?: string;
}

/** What an operation wants of the gate. */
export interface GateWants extends BodyWants {
  /** Set if the body is a form: the most bytes it may have beside the content of its file. */
  readonly formBytes?: number;
}

/** Who sent a request, and its body behind the gate. */
export interface Authenticated {
  readonly caller: Caller;
  readonly scheme: AuthenticatedHead['scheme'] | FormClaim['scheme'];
  /** The body; of a form, the file. */
  readonly payload: Payload;
  /** Whoever gets a form closes it. */
  readonly form?: OpenForm;
}

/** What the head of a request alone tells. */
export interface AuthenticatedHead {
  readonly caller: Caller;
  readonly scheme: 'anonymous' | 'v4-header' | 'v4-presigned';
  readonly payload: Payload;
  /** Whether the signature is also one of the body. */
  readonly coversBody: boolean;
}

/**
 * THE signature gate: every request passes through here, and what it gets to read of the body is verified. Nothing of the
 * body is read yet, but for a form, which is read up to the content of its file.
 *
 * @throws S3Error 400, 403 or 501; whose credentials do not hold is never taken for anonymous
 */
export async function authenticate(
  request: RequestMessage,
  target: Target,
  wants: GateWants,
  keys: AccessKeys,
  clock: Clock,
  settings: SigningSettings,
): Promise<Authenticated> {
  const head = await authenticateHead(request, target, wants, keys, clock, settings);
  if (wants.formBytes === undefined || !('bucket' in target.address)) return head;
  return authenticateForm(request, head, target.address.bucket, wants.formBytes, { keys, clock, settings });
}

async function authenticateHead(
  request: RequestMessage,
  target: Target,
  wants: BodyWants,
  keys: AccessKeys,
  clock: Clock,
  settings: SigningSettings,
): Promise<AuthenticatedHead> {
  const { fields } = request;
  const scheme = recogniseScheme(fields, target.query);
  switch (scheme) {
    case 'anonymous': {
      const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
      return { caller: anonymous, scheme, payload: new VerifiedBody(request, hash, wants), coversBody: false };
    }
    case 'v4-header':
    case 'v4-presigned': {
      const now = clock.now();
      const claim =
        scheme === 'v4-header' ? readAuthorizationHeader(fields, now) : readPresignedQuery(target.query, fields, now);
      return { scheme, ...(await verified(request, target, claim, wants, keys, settings)) };
    }
    case 'v2-header':
    case 'v2-presigned':
      throw new S3Error('NotImplemented', {
        message: 'Signature version 2 is not implemented. Please use AWS4-HMAC-SHA256.',
      });
  }
}

async function verified(
  request: RequestMessage,
  target: Target,
  claim: SignatureClaim,
  wants: BodyWants,
  keys: AccessKeys,
  { strictRegion }: SigningSettings,
): Promise<Omit<AuthenticatedHead, 'scheme'>> {
  if (strictRegion !== undefined) checkRegion(claim, strictRegion);
  refuseUnsignedHeaders(claim, request.fields);
  refuseSessionToken(request.fields, target);
  const hash = parsePayloadHash(claim.payloadHash, claim.dialect);

  const { user, proof } = await provenUser(keys, claim.accessKeyId, (secret) =>
    verifySignature(request, target, claim, secret),
  );
  return {
    caller: user,
    payload: new VerifiedBody(request, hash, wants, proof),
    coversBody: hash.kind === 'digest' || (hash.kind === 'chunks' && hash.signed),
  };
}

/** Keys here are permanent: a token that comes along belongs to a key of somebody else's service. */
function refuseSessionToken(fields: Fields, { query }: Target): void {
  const name = 'x-amz-security-token';
  if (fields.has(name) || query.parameters.some((parameter) => parameter.name.toLowerCase() === name)) {
    throw new S3Error('InvalidToken');
  }
}
