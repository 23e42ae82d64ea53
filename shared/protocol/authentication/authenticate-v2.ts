import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { RequestMessage } from '../../http/message.ts';
import { parsePayloadHash } from '../../signing/payload-hash.ts';
import { readV2Header, readV2Query } from '../../signing/sigv2-claim.ts';
import { isReadByV2, isSignedByV2 } from '../../signing/sigv2-resource.ts';
import { verifyV2Signature } from '../../signing/sigv2.ts';
import { checkVersion2, timingOf, type AuthenticatedHead, type AuthenticationDeps } from './authenticated.ts';
import { AuthenticatedRequest } from './authenticated-request.ts';
import { provenUser } from './proven-user.ts';
import { subresource } from '../routes.ts';

/**
 * Authenticates requests signed with version 2.
 *
 * The signature covers only the parameters that its authors knew. Any other could have been added by anybody who saw the
 * request. A sub-resource would make another operation of it: a presigned upload would rename an object. So it is refused. And so is
 * whatever else of the query an operation asks for, but for what listings ask for ({@link isReadByV2}). What nothing asks for means nothing.
 *
 * @throws S3Error InvalidRequest (version 2 is off, cannot sign what is asked for, or is to sign chunks), and 403
 */
export async function authenticateV2(
  request: RequestMessage,
  target: Target,
  scheme: 'v2-header' | 'v2-presigned',
  deps: AuthenticationDeps,
): Promise<AuthenticatedHead> {
  checkVersion2(deps.settings);
  const { fields } = request;
  const timing = timingOf(deps);
  const claim = scheme === 'v2-header' ? readV2Header(fields, timing) : readV2Query(target.query, timing);
  refuseUncovered(target);
  // A header of the request like any other: the signature covers what it says.
  const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
  if (hash.kind === 'chunks') {
    throw new S3Error('InvalidRequest', { message: 'A body in chunks needs a request signed by AWS4-HMAC-SHA256.' });
  }
  const { user, proof } = await provenUser(deps.keys, claim.accessKeyId, (secret) =>
    verifyV2Signature(request, target, claim, secret),
  );
  const query = proof.checkedBy((name) => {
    if (!isReadByV2(request.method, name)) throw uncovered(name);
  });
  return {
    caller: user,
    scheme,
    request: AuthenticatedRequest.of(request, target, query, scheme),
    body: { message: request, hash, isSigned: hash.kind === 'digest' },
  };
}

function refuseUncovered({ address, query }: Target): void {
  const name = address.kind === 'website' || address.kind === 'internal' ? undefined : subresource(query);
  if (name !== undefined && !isSignedByV2(name)) throw uncovered(name);
}

function uncovered(name: string): S3Error {
  return new S3Error('InvalidRequest', {
    message: `Signature version 2 does not cover the query parameter ${name}. Please use AWS4-HMAC-SHA256.`,
  });
}
