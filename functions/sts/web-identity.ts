import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { TrustingRole } from '../../shared/access/authorise.ts';
import type { Directory, Provider } from '../../shared/accounts/directory.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeySet, ProviderKeys } from '../../shared/signing/web-identity/provider-keys.ts';

/** Whom a token of an OpenID Connect provider speaks of. */
export interface WebIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /** As a trust policy is asked about it. */
  readonly token: NonNullable<TrustingRole['token']>;
}

/** Those with public keys: a provider's public key is no secret to sign with, and `none` is no signature. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** By how many seconds clocks may differ. */
const clockSkew = 60;
const longestSubject = 255;

interface Deps {
  readonly clock: Clock;
  /** Undefined: the deployment asks nobody. */
  readonly providerKeys?: ProviderKeys | undefined;
}

/**
 * Verifies a token by the keys of its provider, which must be one of the account's.
 * https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
 * @throws S3Error InvalidIdentityToken, ExpiredTokenException, IDPCommunicationError
 */
export async function verifiedIdentity(
  token: string,
  account: Pick<Directory, 'provider' | 'providerArn'>,
  deps: Deps,
): Promise<WebIdentity> {
  const issuer = issuerOf(token);
  const provider = await account.provider(account.providerArn(issuer.slice(scheme.length)));
  if (provider === undefined) throw refused(`No OpenIDConnect provider found in your account for ${issuer}`);
  if (deps.providerKeys === undefined) throw new S3Error('IDPCommunicationError');
  const keys = await deps.providerKeys.of(issuer);
  try {
    return identityOf(await claimsOf(token, keys, issuer, deps.clock), provider, issuer, deps.clock);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    // The provider may have got a new key since.
    const newer = await deps.providerKeys.of(issuer, keys);
    if (newer === keys) throw refused(noKey);
    return identityOf(await claimsOf(token, newer, issuer, deps.clock), provider, issuer, deps.clock);
  }
}

const scheme = 'https://';
const noKey =
  "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements";

/** Returns who says to have issued a token. */
function issuerOf(token: string): string {
  try {
    const { alg } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    if (typeof iss === 'string' && iss.startsWith(scheme) && algorithms.includes(alg ?? '')) return iss;
  } catch {
    // It is none.
  }
  throw refused('The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)');
}

async function claimsOf(token: string, keys: KeySet, issuer: string, clock: Clock): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys.keys] }), {
      algorithms,
      issuer,
      requiredClaims: ['exp', 'iat', 'aud', 'sub'],
      clockTolerance: clockSkew,
      currentDate: new Date(clock.now()),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw error;
    if (error instanceof errors.JWTExpired) throw new S3Error('ExpiredTokenException');
    throw refused('The ID Token provided is not valid', error);
  }
}

function identityOf(claims: JWTPayload, provider: Provider, issuer: string, clock: Clock): WebIdentity {
  const { sub, aud, azp, amr, iat } = claims;
  const audiences = [...new Set([...(typeof azp === 'string' ? [azp] : []), ...texts(aud)])];
  const isText = typeof sub === 'string' && sub !== '' && sub.length <= longestSubject;
  if (!isText || audiences.length === 0) throw refused('Missing a required claim');
  if ((iat ?? 0) > clock.now() / 1000 + clockSkew) throw refused('The ID Token was issued in the future');
  const isAccepted = (one: string): boolean => provider.clients.includes(one);
  // Whom it was issued to must be accepted, not just one of many whom it is for.
  if (azp === undefined ? !audiences.every(isAccepted) : !isAccepted(audiences[0]!) || typeof azp !== 'string')
    throw refused('Incorrect token audience');
  const audience = audiences[0]!;
  const key = (claim: string): string => `${provider.name.toLowerCase()}:${claim}`;
  return {
    issuer,
    subject: sub,
    audience,
    token: {
      provider: provider.arn,
      claims: new Map([
        [key('sub'), [sub]],
        [key('aud'), [audience]],
        [key('azp'), typeof azp === 'string' ? [azp] : []],
        [key('amr'), texts(amr)],
      ]),
    },
  };
}

function texts(claim: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return all.filter((one) => typeof one === 'string');
}

function refused(message: string, cause?: unknown): S3Error {
  return new S3Error('InvalidIdentityToken', { message, cause });
}
