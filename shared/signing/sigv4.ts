import { createHash, timingSafeEqual } from 'node:crypto';
import { S3Error } from '../errors/s3-error.ts';
import type { Target } from '../http/address.ts';
import type { RequestMessage } from '../http/message.ts';
import { canonicalQuery, canonicalRequest, canonicalUri } from './canonical-request.ts';
import type { SignatureClaim } from './claim.ts';
import { printScope } from './credential-scope.ts';
import type { Dialect } from './dialect.ts';
import { hmac, signingKey } from './signing-key.ts';

/** What a verified signature leaves behind for the chunks of a body. */
export interface SigningContext {
  readonly key: Uint8Array;
  readonly dialect: Dialect;
  readonly timestamp: string;
  readonly scope: string;
  /** The signature of the request, from which those of the chunks follow one after another. */
  readonly seed: string;
}

/** The string to sign of a canonical request. */
export function stringToSign(claim: SignatureClaim, canonical: string): string {
  const hash = createHash('sha256').update(canonical, 'latin1').digest('hex');
  return [claim.dialect.algorithm, claim.timestamp, printScope(claim), hash].join('\n');
}

/**
 * Verifies the signature of a request, and gives what its chunks are verified with.
 *
 * @throws S3Error SignatureDoesNotMatch, with what the server signed in the place of the client
 */
export function verifySignature(
  request: RequestMessage,
  target: Target,
  claim: SignatureClaim,
  secret: string,
): SigningContext {
  const key = signingKey(secret, claim);
  const readings = canonicalReadings(request, target, claim);
  if (readings.some((reading) => signatureEquals(hmac(key, stringToSign(claim, reading)), claim.signature))) {
    return { key, dialect: claim.dialect, timestamp: claim.timestamp, scope: printScope(claim), seed: claim.signature };
  }
  throw new S3Error('SignatureDoesNotMatch', {
    details: {
      AWSAccessKeyId: claim.accessKeyId,
      StringToSign: stringToSign(claim, readings[0]!),
      SignatureProvided: claim.signature,
      CanonicalRequest: withoutCustomerKeys(readings[0]!),
    },
  });
}

/**
 * The ways in which a client may have written the request down, the likely one first. Some sign the path just as they
 * send it, with `!'()*` bare; some leave a plus bare in the query and mean it.
 */
function canonicalReadings({ method, fields }: RequestMessage, target: Target, claim: SignatureClaim): string[] {
  const { signedHeaders, payloadHash, signatureParameter } = claim;
  const parameters = target.query.parameters.filter((parameter) => parameter !== signatureParameter);
  const uris = new Set([canonicalUri(target.rawPath)]);
  if (visibleAscii.test(target.rawPath)) uris.add(target.rawPath);
  const queries = [canonicalQuery(parameters, '%20')];
  if (target.rawQuery.includes('+')) queries.push(canonicalQuery(parameters, '%2B'));
  return [...uris].flatMap((uri) =>
    queries.map((query) => canonicalRequest({ method, uri, query, fields, signedHeaders, payloadHash })),
  );
}

/** A path with anything else in it could pass for more than the one line of a canonical request that it is. */
const visibleAscii = /^[\x21-\x7e]*$/;

/** Whether a signature is the expected one, in a time that does not tell how much of it is. */
export function signatureEquals(expected: Uint8Array, hex: string): boolean {
  return /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(expected, Buffer.from(hex, 'hex'));
}

/** An error body may end in a log; the keys that customers encrypt with must not. */
function withoutCustomerKeys(canonical: string): string {
  return canonical.replace(/(x-amz-[a-z-]{0,64}customer-key[:=])[^\n&]*/gi, '$1…');
}
