import { hash } from 'node:crypto';
import type { Target } from '../http/address.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import { canonicalQuery, canonicalRequest, canonicalUri, visibleAscii } from './canonical-request.ts';
import type { SignatureClaim } from './claim.ts';
import { printScope } from './credential-scope.ts';
import type { Dialect } from './dialect.ts';
import { signatureDoesNotMatch } from './mismatch.ts';
import { isSignatureOf, signingKey } from './signing-key.ts';

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
function stringToSign(claim: SignatureClaim, canonical: string): string {
  const digest = hash('sha256', Buffer.from(canonical, 'latin1'), 'hex');
  return [claim.dialect.algorithm, claim.timestamp, printScope(claim), digest].join('\n');
}

/** What a verified signature says beside that it holds. */
export interface VerifiedSignature extends SigningContext {
  /** The query as it was signed: all that is made of the request is made of this one. */
  readonly query: Query;
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
): VerifiedSignature {
  const { accessKeyId, dialect, signature, timestamp } = claim;
  const key = signingKey(secret, claim);
  let likely: string | undefined;
  for (const { canonical, query } of readings(request, target, claim)) {
    likely ??= canonical;
    if (isSignatureOf(stringToSign(claim, canonical), key, signature)) {
      return { key, dialect, timestamp, scope: printScope(claim), seed: signature, query };
    }
  }
  const canonical = likely!;
  throw signatureDoesNotMatch({ accessKeyId, signature, stringToSign: stringToSign(claim, canonical), canonical });
}

/** A way to write a request down. */
interface Reading {
  readonly canonical: string;
  readonly query: Query;
}

/**
 * The ways in which a client may have written the request down, the likely one first. Some sign the path just as they
 * send it, with `!'()*` bare; some send a slash of the key escaped and sign it bare, as S3 itself does; some leave a plus
 * bare in the query and mean it. Each reading names the same object.
 */
function* readings({ method, fields }: RequestMessage, target: Target, claim: SignatureClaim): Generator<Reading> {
  const { rawPath } = target;
  const { signedHeaders, payloadHash, signatureParameter } = claim;
  const parameters = target.query.parameters.filter((parameter) => parameter !== signatureParameter);
  const canonicalPath = canonicalUri(rawPath);
  const uris = new Set([canonicalPath, canonicalPath.replaceAll('%2F', '/')]);
  if (visibleAscii.test(rawPath)) uris.add(rawPath);
  for (const query of target.query.readings()) {
    const signed = canonicalQuery(parameters, query.plus === ' ' ? '%20' : '%2B');
    for (const uri of uris) {
      yield { canonical: canonicalRequest({ method, uri, query: signed, fields, signedHeaders, payloadHash }), query };
    }
  }
}
