import { hash } from 'node:crypto';
import { anonymous, type AccessKeys } from '../../access/identity.ts';
import type { Target } from '../../http/address.ts';
import type { RequestMessage } from '../../http/message.ts';
import type { OtherApi } from '../../http/query-api.ts';
import { WholeBytes } from '../../ports/whole-bytes.ts';
import { readAuthorizationHeader } from '../../signing/v4/authorization-header.ts';
import { checkRegion, refuseUnsignedHeaders, type SignatureClaim } from '../../signing/claim.ts';
import { parsePayloadHash } from '../../signing/v4/payload-hash.ts';
import { readPresignedQuery } from '../../signing/v4/presigned.ts';
import { recogniseScheme } from '../../signing/scheme.ts';
import { verifySignature } from '../../signing/v4/sigv4.ts';
import { authenticateForm } from './authenticate-form.ts';
import { authenticateV2 } from './authenticate-v2.ts';
import {
  timingOf,
  type Authenticated,
  type AuthenticatedHead,
  type AuthenticationDeps,
  type BodyExpectations,
  provenUser,
  sessionTokenOf,
} from './authenticated.ts';
import { AuthenticatedRequest } from './authenticated-request.ts';
import { readWhole } from '../bodies/read-body.ts';
import { VerifiedBody } from '../bodies/verified-body.ts';
import { withBody } from '../request-reader.ts';

/*
 * Authentication: every request passes through here, first its head and then, once its operation is known, its body.
 */

/**
 * Authenticates the head of a request: determines the caller and the reading of the request that was signed.
 *
 * @param ignoresCredentials true: every caller is anonymous, and credentials are ignored
 * @param api the API that the request is for, if not S3
 * @throws S3Error 400, 403, or 501 (asymmetric signatures); invalid credentials never make a request anonymous
 */
export function authenticateHead(
  request: RequestMessage,
  target: Target,
  ignoresCredentials: boolean,
  deps: AuthenticationDeps,
  api: OtherApi | '' = '',
): AuthenticatedHead | Promise<AuthenticatedHead> {
  if (api !== '') return authenticateApi(request, target, api, deps);
  const { fields } = request;
  const scheme = ignoresCredentials ? 'anonymous' : recogniseScheme(fields, target.query);
  switch (scheme) {
    case 'anonymous':
      return ofStranger(request, target, fields.get('x-amz-content-sha256'));
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
      return authenticateV2(request, target, scheme, deps);
  }
}

function ofStranger(request: RequestMessage, target: Target, payloadHash = 'UNSIGNED-PAYLOAD'): AuthenticatedHead {
  return {
    caller: anonymous,
    scheme: 'anonymous',
    request: AuthenticatedRequest.of(request, target, target.query, 'anonymous'),
    body: { message: request, hash: parsePayloadHash(payloadHash, undefined), isSigned: false },
  };
}

/** The maximum size of the body of a request to an API other than S3, in bytes. It is read before the signature is verified. */
const apiBodyBytes = 128 * 1024;

/** Authenticates a request to an API other than S3. Its signature always covers the body, whose hash most clients do not send. */
async function authenticateApi(
  request: RequestMessage,
  target: Target,
  api: OtherApi,
  deps: AuthenticationDeps,
): Promise<AuthenticatedHead> {
  const { fields } = request;
  const body = await readWhole(new VerifiedBody(request, { kind: 'unsigned' }, { digestBody: false }), apiBodyBytes);
  const whole = withBody(request, new WholeBytes(body));
  if (!fields.has('authorization')) return ofStranger(whole, target);
  const payloadHash = hash('sha256', body, 'hex');
  const claim = readAuthorizationHeader(fields, timingOf(deps), { service: api, payloadHash });
  const { keys } = deps;
  // Whoever administers others does so by the rights of this moment.
  const current: AccessKeys = { find: (id, _, sessionToken) => keys.find(id, 'read', sessionToken) };
  return authenticateV4(whole, target, 'v4-header', claim, api === 'iam' ? { ...deps, keys: current } : deps);
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
  if (strictRegion !== undefined && !isGlobal(claim)) checkRegion(claim, strictRegion);
  refuseUnsignedHeaders(claim, request.fields);
  const sessionToken = sessionTokenOf(scheme, request.fields, target);
  const hash = parsePayloadHash(claim.payloadHash, claim.dialect);

  const { user, proof } = await provenUser(keys, { accessKeyId: claim.accessKeyId, sessionToken }, (secret) =>
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

/** Tells whether a request is for an API that has one region for the world, beside the deployment's own. */
function isGlobal({ service, dialect, region }: SignatureClaim): boolean {
  return service !== dialect.service && region === 'us-east-1';
}
