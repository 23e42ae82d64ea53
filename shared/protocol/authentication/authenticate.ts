import { anonymous } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
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
  type AuthenticationDeps,
  type BodyExpectations,
} from './authenticated.ts';
import { AuthenticatedRequest } from './authenticated-request.ts';
import { provenUser } from './proven-user.ts';
import { VerifiedBody } from '../bodies/verified-body.ts';

/*
 * Authentication: every request passes through here, first its head and then, once its operation is known, its body.
 */

/**
 * Authenticates the head of a request: determines the caller and the reading of the request that was signed.
 *
 * @param ignoresCredentials true: every caller is anonymous, and credentials are ignored
 * @throws S3Error 400, 403, or 501 (asymmetric signatures); invalid credentials never make a request anonymous
 */
export function authenticateHead(
  request: RequestMessage,
  target: Target,
  ignoresCredentials: boolean,
  deps: AuthenticationDeps,
): AuthenticatedHead | Promise<AuthenticatedHead> {
  const { fields } = request;
  const scheme = ignoresCredentials ? 'anonymous' : recogniseScheme(fields, target.query);
  switch (scheme) {
    case 'anonymous': {
      const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
      return {
        caller: anonymous,
        scheme,
        request: AuthenticatedRequest.of(request, target, target.query, scheme),
        body: { message: request, hash, isSigned: false },
      };
    }
    case 'v4-header':
    case 'v4-presigned': {
      const timing = timingOf(deps);
      const claim =
        scheme === 'v4-header'
          ? readAuthorizationHeader(fields, timing)
          : readPresignedQuery(target.query, fields, timing);
      return authenticateV4(request, target, scheme, claim, deps);
    }
    case 'v2-header':
    case 'v2-presigned':
      refuseSessionToken(fields, target);
      return authenticateV2(request, target, scheme, deps);
  }
}

/**
 * Authenticates the body of a request whose head is authenticated: it is verified while it is read. Reads nothing yet
 * except, for a form, the fields before the file.
 *
 * @throws S3Error 400 or 403, for a form
 */
export function authenticateBody(
  head: AuthenticatedHead,
  wants: BodyExpectations,
  deps: AuthenticationDeps,
): Authenticated | Promise<Authenticated> {
  const { caller, scheme, request, body } = head;
  const payload = new VerifiedBody(body.message, body.hash, wants, {
    context: body.context,
    threads: deps.digestThreads,
  });
  if (wants.formBytes === undefined || !('bucket' in request.address)) return { caller, scheme, request, payload };
  return authenticateForm(head, payload.bytes, request.address.bucket, wants.formBytes, deps);
}

async function authenticateV4(
  request: RequestMessage,
  target: Target,
  scheme: 'v4-header' | 'v4-presigned',
  claim: SignatureClaim,
  { keys, settings: { strictRegion } }: AuthenticationDeps,
): Promise<AuthenticatedHead> {
  if (strictRegion !== undefined) checkRegion(claim, strictRegion);
  refuseUnsignedHeaders(claim, request.fields);
  refuseSessionToken(request.fields, target);
  const hash = parsePayloadHash(claim.payloadHash, claim.dialect);

  const { user, proof } = await provenUser(keys, claim.accessKeyId, (secret) =>
    verifySignature(request, target, claim, secret),
  );
  const isSigned = hash.kind === 'digest' || (hash.kind === 'chunks' && hash.signed);
  return {
    caller: user,
    scheme,
    request: AuthenticatedRequest.of(request, target, proof.query, scheme),
    body: { message: request, hash, context: proof, isSigned },
  };
}

/** Refuses session tokens. Keys are permanent here, so a token belongs to a key of another service. */
function refuseSessionToken(fields: Fields, { query }: Target): void {
  const name = 'x-amz-security-token';
  if (fields.has(name) || query.parameters.some((parameter) => parameter.name.toLowerCase() === name)) {
    throw new S3Error('InvalidToken');
  }
}
