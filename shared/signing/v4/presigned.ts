import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import type { Query, QueryParameter } from '../../http/query.ts';
import { checkCredentialDate, parseSignedHeaders, type SignatureClaim, type Timing } from '../claim.ts';
import { parseCredential, dialectOf, refuseAsymmetric } from './credential-scope.ts';
import { parseBasicTime, printTime } from '../timestamp.ts';

const malformed = 'AuthorizationQueryParametersError';

/**
 * Reads the signature of a presigned URL. Parameter names are case-insensitive, but signed as sent.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 *
 * @throws S3Error AuthorizationQueryParametersError, AccessDenied (expired, not valid yet, bad expiry), NotImplemented
 */
export function readPresignedQuery(query: Query, fields: Fields, timing: Timing): SignatureClaim {
  const parameters = firstByLowerName(query);
  const algorithm = required(parameters, 'x-amz-algorithm').value;
  const credential = required(parameters, 'x-amz-credential').value;
  const timestamp = required(parameters, 'x-amz-date').value;
  const expires = required(parameters, 'x-amz-expires').value;
  const signedHeaders = required(parameters, 'x-amz-signedheaders').value;
  const signature = required(parameters, 'x-amz-signature');

  const dialect = dialectOf(algorithm);
  refuseAsymmetric(algorithm);
  if (!dialect)
    throw new S3Error(malformed, {
      message: 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256" and "SVC4-HMAC-SHA256"',
    });
  const time = parseBasicTime(timestamp);
  if (time === undefined) {
    throw new S3Error(malformed, { message: "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"" });
  }
  const { accessKeyId, date, region, service } = parseCredential(credential, dialect, malformed);
  const claim: SignatureClaim = {
    dialect,
    accessKeyId,
    date,
    region,
    service,
    signedHeaders: parseSignedHeaders(signedHeaders, malformed),
    signature: signature.value,
    signatureParameter: signature,
    timestamp,
    payloadHash:
      fields.get('x-amz-content-sha256') ?? parameters.get('x-amz-content-sha256')?.value ?? 'UNSIGNED-PAYLOAD',
    malformed,
  };
  checkCredentialDate(claim);
  checkValidity(time, expires, timing);
  return claim;
}

function firstByLowerName(query: Query): ReadonlyMap<string, QueryParameter> {
  const first = new Map<string, QueryParameter>();
  for (const parameter of query.parameters) {
    const name = parameter.name.toLowerCase();
    if (!first.has(name)) first.set(name, parameter);
  }
  return first;
}

function required(parameters: ReadonlyMap<string, QueryParameter>, name: string): QueryParameter {
  const parameter = parameters.get(name);
  if (parameter !== undefined && parameter.value !== '') return parameter;
  throw new S3Error(malformed, {
    message:
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
      'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
  });
}

/** Checks that the URL is valid: from one clock skew before it was signed until it expires. */
function checkValidity(time: number, expires: string, { now, allowedSkew, longestLifetime }: Timing): void {
  const seconds = /^\d{1,10}$/.test(expires) ? Number(expires) : 0;
  const longest = Math.floor(longestLifetime / 1000);
  if (seconds < 1 || seconds > longest) {
    throw new S3Error('AccessDenied', {
      message: `X-Amz-Expires must be a whole number of seconds, at least 1 and at most ${longest}.`,
    });
  }
  const end = time + seconds * 1000;
  if (now < time - allowedSkew) {
    throw new S3Error('AccessDenied', { message: 'Request is not valid yet', details: { ServerTime: printTime(now) } });
  }
  if (now > end) {
    throw new S3Error('AccessDenied', {
      message: 'Request has expired',
      details: { 'X-Amz-Expires': expires, Expires: printTime(end), ServerTime: printTime(now) },
    });
  }
}
