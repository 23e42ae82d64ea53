import { S3Error } from '../errors/s3-error.ts';
import type { Fields } from '../http/message.ts';
import { parseCredential, type CredentialScope, dialectOf, refuseAsymmetric } from './v4/credential-scope.ts';
import { signatureDoesNotMatch } from './mismatch.ts';
import { equalsBase64, hmacSha1 } from './v2/sigv2.ts';
import { isSignatureOf, signingKey } from './v4/signing-key.ts';
import { parseBasicTime } from './timestamp.ts';

/** The signature of a form and its parameters. Well-formed but not verified. */
export type FormClaim = SignedPolicy &
  ({ readonly scheme: 'form-v4'; readonly scope: CredentialScope } | { readonly scheme: 'form-v2' });

interface SignedPolicy {
  readonly accessKeyId: string;
  readonly sessionToken?: string | undefined;
  /** As sent. */
  readonly signature: string;
  /** The value of the field `policy`, which is the signed text: base64, as sent. */
  readonly policy: string;
}

const malformed = 'InvalidArgument';

const v4Fields = ['x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'x-amz-signature'] as const;
const v2Fields = ['awsaccesskeyid', 'svcaccesskeyid', 'signature'] as const;

/**
 * Reads the credentials of a form, or returns undefined if there are none. An unsigned policy and a signature without a
 * policy are errors and never make the request anonymous.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html and, for version 2,
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/HTTPPOSTForms.html
 *
 * @param fields of the form
 * @throws S3Error InvalidArgument, InvalidToken, NotImplemented
 */
export function readFormClaim(fields: Fields): FormClaim | undefined {
  const isV4 = v4Fields.some((name) => fields.has(name));
  const isV2 = v2Fields.some((name) => fields.has(name));
  if (!isV4 && !isV2 && !fields.has('policy')) {
    if (fields.has('x-amz-security-token')) throw new S3Error('InvalidToken');
    return undefined;
  }
  if (isV4 && isV2) {
    throw new S3Error(malformed, {
      message: 'Only one auth mechanism allowed; the form has fields of signature versions 2 and 4.',
    });
  }
  return isV4 ? readV4(fields) : readV2(fields);
}

function readV4(fields: Fields): FormClaim {
  const policy = required(fields, 'policy');
  const algorithm = required(fields, 'x-amz-algorithm');
  const credential = required(fields, 'x-amz-credential');
  const timestamp = required(fields, 'x-amz-date');
  const signature = required(fields, 'x-amz-signature');

  refuseAsymmetric(algorithm);
  const dialect = dialectOf(algorithm);
  if (!dialect) {
    throw argument('x-amz-algorithm', 'x-amz-algorithm only supports "AWS4-HMAC-SHA256" and "SVC4-HMAC-SHA256"');
  }
  const { accessKeyId, ...scope } = parseCredential(credential, dialect, malformed);
  if (parseBasicTime(timestamp) === undefined || !timestamp.startsWith(scope.date)) {
    throw argument(
      'x-amz-date',
      "x-amz-date must have the form \"yyyyMMdd'T'HHmmss'Z'\" and the same date as x-amz-credential.",
    );
  }
  const sessionToken = fields.get('x-amz-security-token');
  return { scheme: 'form-v4', accessKeyId, sessionToken, scope, signature, policy };
}

function readV2(fields: Fields): FormClaim {
  const policy = required(fields, 'policy');
  const names = v2Fields.filter((name) => name !== 'signature' && fields.has(name));
  if (names.length > 1) throw argument(names[1]!, 'The form has two access key ids.');
  const accessKeyId = required(fields, names[0] ?? 'awsaccesskeyid');
  const sessionToken = fields.get('x-amz-security-token');
  return { scheme: 'form-v2', accessKeyId, sessionToken, signature: required(fields, 'signature'), policy };
}

function required(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value !== undefined && value !== '') return value;
  throw argument(name, `A signed form must contain a field named '${name}'.`);
}

function argument(name: string, message: string): S3Error {
  return new S3Error(malformed, { message, details: { ArgumentName: name } });
}

/** Verifies the signature of a form. @throws S3Error SignatureDoesNotMatch */
export function verifyFormSignature(claim: FormClaim, secret: string): void {
  const { accessKeyId, signature, policy } = claim;
  const holds =
    claim.scheme === 'form-v4'
      ? isSignatureOf(policy, signingKey(secret, claim.scope), signature)
      : equalsBase64(hmacSha1(secret, policy), signature);
  if (!holds) throw signatureDoesNotMatch({ accessKeyId, signature, stringToSign: policy });
}
