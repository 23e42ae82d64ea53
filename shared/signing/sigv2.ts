import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Target } from '../http/address.ts';
import { foldBlanks, trimBlanks } from '../http/blanks.ts';
import type { Fields, RequestMessage } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import { gatewayHeaders } from './claim.ts';
import { withHoisted } from './hoisted.ts';
import { signatureDoesNotMatch } from './mismatch.ts';
import type { V2Claim } from './sigv2-claim.ts';
import { canonicalResources } from './sigv2-resource.ts';

/**
 * Verifies a signature of version 2: base64 of an HMAC-SHA1, keyed by the secret itself.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
 *
 * Every x-amz- header is part of what is signed, and so is every query parameter of {@link isSignedByV2}; nothing else of
 * the query is, nor the host, nor the body.
 *
 * @returns the query as it was signed: all that is made of the request is made of this one
 * @throws S3Error SignatureDoesNotMatch, with what the server signed in the place of the client; InvalidArgument, InvalidRequest for
 *   what version 2 cannot tell from something else
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
 * The strings that a client may have signed for this request in this reading of its query, the likely one first; their characters
 * are bytes.
 */
export function stringsToSign(request: RequestMessage, target: Target, { dateLine }: V2Claim): readonly string[] {
  const { method } = request;
  // What would be headers counts as such where it stands in the query.
  const fields = withHoisted(request.fields, target.query);
  const head = [method, fields.get('content-md5') ?? '', fields.get('content-type') ?? '', dateLine, ''].join('\n');
  const resources = canonicalResources(target);
  return canonicalHeaders(fields).flatMap((headers) => resources.map((resource) => head + headers + resource));
}

/** The x-amz- headers by their names. Runs of blanks in values are one blank to some clients, and stay to others. */
function canonicalHeaders(fields: Fields): readonly string[] {
  const names = [...fields.names()].filter((name) => name.startsWith('x-amz-') && !gatewayHeaders.has(name)).sort();
  const lines = (printed: (value: string) => string): string =>
    names.map((name) => `${name}:${fields.all(name).map(printed).join(',')}\n`).join('');
  // Line breaks do not get as far as this: what is left of a folded header are its blanks.
  return [...new Set([lines(foldBlanks), lines(trimBlanks)])];
}

/** HMAC-SHA1 of a text whose characters are bytes. */
export function hmacSha1(secret: string, text: string): Buffer {
  return createHmac('sha1', secret).update(text, 'latin1').digest();
}

/** Whether a signature in base64 is the expected one of 20 bytes, in a time that does not tell how much of it is. */
export function equalsBase64(expected: Uint8Array, signature: string): boolean {
  return (
    /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/.test(signature) &&
    timingSafeEqual(expected, Buffer.from(signature, 'base64'))
  );
}
