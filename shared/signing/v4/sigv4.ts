import { hash } from 'node:crypto';
import type { Target } from '../../http/address.ts';
import type { RequestMessage } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import { canonicalQuery, canonicalRequest, canonicalUri, visibleAscii } from './canonical-request.ts';
import type { SignatureClaim } from '../claim.ts';
import { printScope, type Dialect } from './credential-scope.ts';
import { signatureDoesNotMatch } from '../mismatch.ts';
import { isSignatureOf, signingKey } from './signing-key.ts';

/** The parameters of a verified signature that the signatures of the body's chunks depend on. */
export interface SigningContext {
  readonly key: Uint8Array;
  readonly dialect: Dialect;
  readonly timestamp: string;
  readonly scope: string;
  /** The signature of the request, which starts the chain of chunk signatures. */
  readonly seed: string;
}

/** Returns the string to sign for a canonical request. */
function stringToSign(claim: SignatureClaim, canonical: string): string {
  const digest = hash('sha256', Buffer.from(canonical, 'latin1'), 'hex');
  return [claim.dialect.algorithm, claim.timestamp, printScope(claim), digest].join('\n');
}

/** The result of verifying a signature. */
export interface VerifiedSignature extends SigningContext {
  /** The query in the reading that was signed, from which everything else is derived. */
  readonly query: Query;
}

/**
 * Verifies the signature of a request and returns the context for verifying its chunks.
 *
 * @throws S3Error SignatureDoesNotMatch, with the texts that the server signed
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

/** One way to write a request in canonical form. */
interface Reading {
  readonly canonical: string;
  readonly query: Query;
}

/**
 * Yields the forms in which a client may have signed the request, the most likely first. Some sign the path as they
 * send it, with `!'()*` unescaped; some escape a slash in the key but sign it unescaped, as S3 does; some send an
 * unescaped plus in the query and mean a plus. Each reading addresses the same object.
 */
function* readings({ method, fields }: RequestMessage, target: Target, claim: SignatureClaim): Generator<Reading> {
  const { rawPath } = target;
  const { signedHeaders, payloadHash, signatureParameter } = claim;
  const parameters = target.query.parameters.filter((parameter) => parameter !== signatureParameter);
  for (const query of target.query.readings()) {
    const signed = canonicalQuery(parameters, query.plus === ' ' ? '%20' : '%2B');
    for (const uri of signedPaths(rawPath)) {
      yield { canonical: canonicalRequest({ method, uri, query: signed, fields, signedHeaders, payloadHash }), query };
    }
  }
}

/** Yields the forms of a path that a client may have signed, the most likely first. */
function* signedPaths(rawPath: string): Generator<string> {
  const canonical = canonicalUri(rawPath);
  yield canonical;
  const withSlashes = canonical.replaceAll('%2F', '/');
  if (withSlashes !== canonical) yield withSlashes;
  if (rawPath !== canonical && rawPath !== withSlashes && visibleAscii.test(rawPath)) yield rawPath;
}
