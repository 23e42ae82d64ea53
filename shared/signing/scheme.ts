import { S3Error } from '../errors/s3-error.ts';
import type { Fields } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import { dialectOf, refuseAsymmetric } from './v4/credential-scope.ts';

/** The authentication scheme of a request. */
export type Scheme = 'anonymous' | 'v4-header' | 'v4-presigned' | 'v2-header' | 'v2-presigned';

/**
 * Returns the authentication scheme of a request. Malformed credentials are an error and never make a request
 * anonymous.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 *
 * @throws S3Error InvalidArgument (unknown scheme, or more than one), AccessDenied (empty header), NotImplemented
 */
export function recogniseScheme(fields: Fields, query: Query): Scheme {
  const found: Scheme[] = [];
  const authorization = fields.get('authorization')?.trim();
  if (hasParameter(query, v4Credentials)) found.push('v4-presigned');
  if (hasParameter(query, v2Credentials)) found.push('v2-presigned');
  if (authorization !== undefined && found.length === 0) return headerScheme(authorization);
  if (authorization !== undefined || found.length > 1) {
    throw new S3Error('InvalidArgument', {
      message:
        'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or ' +
        'the Authorization header should be specified',
    });
  }
  return found[0] ?? 'anonymous';
}

const v4Credentials = new Set(['x-amz-algorithm', 'x-amz-credential', 'x-amz-signature']);
const v2Credentials = new Set(['awsaccesskeyid', 'svcaccesskeyid', 'signature']);

function hasParameter(query: Query, lowerNames: ReadonlySet<string>): boolean {
  return query.parameters.some(({ name }) => lowerNames.has(name.toLowerCase()));
}

/** Splits an Authorization header into its first word, which names the scheme, and the rest. */
export function firstWord(authorization: string): { readonly word: string; readonly rest: string } {
  const trimmed = authorization.trim();
  const blank = trimmed.search(/\s/);
  return blank < 0
    ? { word: trimmed, rest: '' }
    : { word: trimmed.slice(0, blank), rest: trimmed.slice(blank).trimStart() };
}

/** Matches `key id:signature`; the key id may contain colons, the signature cannot. */
const v2Pair = /^\S+:[^\s:]+$/;

function headerScheme(authorization: string): Scheme {
  if (authorization === '') throw new S3Error('AccessDenied');
  const { word, rest } = firstWord(authorization);
  if (dialectOf(word)) return 'v4-header';
  refuseAsymmetric(word, `${word} signatures are not implemented.`);
  const pair = word === 'AWS' || word === 'SVC' ? rest : authorization;
  if (v2Pair.test(pair)) return 'v2-header';
  throw new S3Error('InvalidArgument', {
    message: 'The value of the Authorization header does not have a known form.',
    details: { ArgumentName: 'Authorization' },
  });
}
