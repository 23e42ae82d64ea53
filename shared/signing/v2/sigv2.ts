import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Target } from '../../http/address.ts';
import { foldBlanks, trimBlanks } from '../../http/fields/field-syntax.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import { gatewayHeaders } from '../claim.ts';
import { withHoisted } from './hoisted.ts';
import { signatureDoesNotMatch } from '../mismatch.ts';
import type { V2Claim } from './sigv2-claim.ts';
import { canonicalResources } from './sigv2-resource.ts';

/**
 * Verifies a V2 signature: the base64 of an HMAC-SHA1, keyed by the secret itself.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
 *
 * It covers all x-amz- headers and the query parameters of {@link isSignedByV2}; nothing else of the query, neither the
 * host nor the body.
 *
 * @returns the query in the reading that was signed, from which everything else is derived
 * @throws S3Error SignatureDoesNotMatch, with the string that the server signed; InvalidArgument, InvalidRequest for
 *   requests that are ambiguous in version 2
 */
export function verifyV2Signature(request: RequestMessage, target: Target, claim: V2Claim, secret: string): Query {
  let likely: string | undefined;
  for (const query of target.query.readings()) {
    for (const text of stringsToSign(request, { ...target, query }, claim)) {
      likely ??= text;
      if (equalsBase64(hmacSha1(secret, text), claim.signature)) return query;
    }
  }
  throw signatureDoesNotMatch({ ...claim, stringToSign: likely! });
}

/**
 * Returns the strings that a client may have signed for this reading of the query, the most likely first; their
 * characters are bytes.
 */
export function stringsToSign(request: RequestMessage, target: Target, { dateLine }: V2Claim): readonly string[] {
  const { method } = request;
  // Headers hoisted into the query are signed as headers.
  const fields = withHoisted(request.fields, target.query);
  const head = [method, fields.get('content-md5') ?? '', fields.get('content-type') ?? '', dateLine, ''].join('\n');
  const resources = canonicalResources(target);
  return canonicalHeaders(fields).flatMap((headers) => resources.map((resource) => head + headers + resource));
}

/** Returns the x-amz- headers sorted by name. Some clients collapse runs of blanks in values, others do not. */
function canonicalHeaders(fields: Fields): readonly string[] {
  const names = [...fields.names()].filter((name) => name.startsWith('x-amz-') && !gatewayHeaders.has(name)).sort();
  const lines = (printed: (value: string) => string): string =>
    names.map((name) => `${name}:${fields.all(name).map(printed).join(',')}\n`).join('');
  // Line breaks never get this far: only the blanks of a folded header are left.
  return [...new Set([lines(foldBlanks), lines(trimBlanks)])];
}

/** Returns the HMAC-SHA1 of a text whose characters are bytes. */
export function hmacSha1(secret: string, text: string): Buffer {
  return createHmac('sha1', secret).update(text, 'latin1').digest();
}

/** Compares a base64 signature with the expected 20 bytes in constant time. */
export function equalsBase64(expected: Uint8Array, signature: string): boolean {
  return (
    /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/.test(signature) &&
    timingSafeEqual(expected, Buffer.from(signature, 'base64'))
  );
}
