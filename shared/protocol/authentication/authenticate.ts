import { anonymous } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import { Query } from '../../http/query.ts';
import { readAuthorizationHeader } from '../../signing/authorization-header.ts';
import { checkRegion, refuseUnsignedHeaders, type SignatureClaim } from '../../signing/claim.ts';
import { parsePayloadHash } from '../../signing/payload-hash.ts';
import { readPresignedQuery } from '../../signing/presigned.ts';
import { recogniseScheme } from '../../signing/scheme.ts';
import { verifySignature } from '../../signing/sigv4.ts';
import { authenticateForm } from './authenticate-form.ts';
import { authenticateV2 } from './authenticate-v2.ts';
import {
  timingOf,
  type Authenticated,
  type AuthenticatedHead,
  type GateRooms,
  type GateWants,
} from './authenticated.ts';
import { provenUser } from './proven-user.ts';
import { VerifiedBody, type BodyWants } from '../bodies/verified-body.ts';

/**
 * THE signature gate: every request passes through here, and what it gets to read of the body is verified. Nothing of the
 * body is read yet, but for a form, which is read up to the content of its file.
 *
 * @throws S3Error 400, 403, or 501 (signatures of public keys); whose credentials do not hold is never taken for anonymous
 */
export async function authenticate(
  request: RequestMessage,
  target: Target,
  wants: GateWants,
  rooms: GateRooms,
): Promise<Authenticated> {
  const head = await authenticateHead(request, target, wants, rooms);
  if (wants.formBytes === undefined || !('bucket' in target.address)) return head;
  return authenticateForm(request, head, target.address.bucket, wants.formBytes, rooms);
}

async function authenticateHead(
  request: RequestMessage,
  target: Target,
  wants: GateWants,
  rooms: GateRooms,
): Promise<AuthenticatedHead> {
  const { fields } = request;
  const scheme = wants.ignoresCredentials ? 'anonymous' : recogniseScheme(fields, target.query);
  switch (scheme) {
    case 'anonymous': {
      const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
      return { caller: anonymous, scheme, target, payload: new VerifiedBody(request, hash, wants), coversBody: false };
    }
    case 'v4-header':
    case 'v4-presigned': {
      const timing = timingOf(rooms);
      const claim =
        scheme === 'v4-header'
          ? readAuthorizationHeader(fields, timing)
          : readPresignedQuery(target.query, fields, timing);
      return { scheme, ...(await verified(request, target, claim, wants, rooms)) };
    }
    case 'v2-header':
    case 'v2-presigned':
      refuseSessionToken(fields, target);
      return authenticateV2(request, target, scheme, wants, rooms);
  }
}

async function verified(
  request: RequestMessage,
  target: Target,
  claim: SignatureClaim,
  wants: BodyWants,
  { keys, settings: { strictRegion } }: GateRooms,
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
    target: proof.plus === ' ' ? target : { ...target, query: Query.parse(target.rawQuery, proof.plus) },
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
