import { S3Error } from '../../errors/s3-error.ts';
import type { Target } from '../../http/address.ts';
import type { RequestMessage } from '../../http/message.ts';
import { parsePayloadHash } from '../../signing/payload-hash.ts';
import { readV2Header, readV2Query } from '../../signing/sigv2-claim.ts';
import { isSignedByV2 } from '../../signing/sigv2-resource.ts';
import { verifyV2Signature } from '../../signing/sigv2.ts';
import { checkVersion2, timingOf, type AuthenticatedHead, type GateRooms } from './authenticated.ts';
import { provenUser } from './proven-user.ts';
import { subresource } from '../routes.ts';
import { VerifiedBody, type BodyWants } from '../bodies/verified-body.ts';

/**
 * The part of the signature gate that requests of version 2 pass.
 *
 * The signature covers only the sub-resources that its authors knew. Any other could have been added by anybody who saw the
 * request, and would make another operation of it: a presigned upload would rename an object. So it is refused.
 *
 * @throws S3Error InvalidRequest (version 2 is off, cannot sign what is asked for, or is to sign chunks), and 403
 */
export async function authenticateV2(
  request: RequestMessage,
  target: Target,
  scheme: 'v2-header' | 'v2-presigned',
  wants: BodyWants,
  rooms: GateRooms,
): Promise<AuthenticatedHead> {
  checkVersion2(rooms.settings);
  const { fields } = request;
  const timing = timingOf(rooms);
  const claim = scheme === 'v2-header' ? readV2Header(fields, timing) : readV2Query(target.query, timing);
  refuseUncovered(target);
  // A header of the request like any other: the signature covers what it says.
  const hash = parsePayloadHash(fields.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD', undefined);
  if (hash.kind === 'chunks') {
    throw new S3Error('InvalidRequest', { message: 'A body in chunks needs a request signed by AWS4-HMAC-SHA256.' });
  }
  const { user } = await provenUser(rooms.keys, claim.accessKeyId, (secret) => {
    verifyV2Signature(request, target, claim, secret);
  });
  const payload = new VerifiedBody(request, hash, wants);
  return { caller: user, scheme, target, payload, coversBody: hash.kind === 'digest' };
}

function refuseUncovered({ address, query }: Target): void {
  const name = address.kind === 'website' || address.kind === 'own' ? undefined : subresource(query);
  if (name === undefined || isSignedByV2(name)) return;
  throw new S3Error('InvalidRequest', {
    message: `Signature version 2 does not cover the query parameter ${name}. Please use AWS4-HMAC-SHA256.`,
  });
}
