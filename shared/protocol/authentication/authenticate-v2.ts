import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { RequestMessage } from '../../http/message.ts';
import { parsePayloadHash } from '../../signing/v4/payload-hash.ts';
import { readV2Header, readV2Query } from '../../signing/v2/sigv2-claim.ts';
import { isReadByV2, isSignedByV2 } from '../../signing/v2/sigv2-resource.ts';
import { verifyV2Signature } from '../../signing/v2/sigv2.ts';
import {
  checkVersion2,
  timingOf,
  type AuthenticatedHead,
  type AuthenticationDeps,
  provenUser,
  sessionTokenOf,
} from './authenticated.ts';
import { AuthenticatedRequest } from './authenticated-request.ts';
import { subresource } from '../routes.ts';

/**
 * Authenticates requests signed with version 2.
 *
 * The signature covers only the parameters known to its authors. Anyone who saw the request could have added others. A
 * sub-resource would make it another operation, such as a rename instead of a presigned upload, so unsigned ones are
 * refused. So are other unsigned parameters that an operation reads, except those of listings ({@link isReadByV2}).
 * Parameters that nothing reads are ignored.
 *
 * @throws S3Error InvalidRequest (version 2 is disabled, does not cover what the request asks for, or the body is in
 *   signed chunks), and 403
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
  const { accessKeyId } = claim;
  const sessionToken = sessionTokenOf(scheme, fields, target);
  // Signed like any other header.
  const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
  if (hash.kind === 'chunks') {
    throw new S3Error('InvalidRequest', { message: 'A body in chunks needs a request signed by AWS4-HMAC-SHA256.' });
  }
  const { user, proof } = await provenUser(deps.keys, { accessKeyId, sessionToken }, (secret) =>
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
