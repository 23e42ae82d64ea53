import { S3Error } from '../../errors/s3-error.ts';
import { checkRegion } from '../../signing/claim.ts';
import { readFormClaim, verifyFormSignature } from '../../signing/form-claim.ts';
import { checkPostPolicy, heldToSize, parsePostPolicy, type SizeRange } from '../../signing/post-policy.ts';
import {
  checkVersion2,
  type Authenticated,
  type AuthenticatedHead,
  type AuthenticationDeps,
  provenUser,
} from './authenticated.ts';
import { openForm, type OpenForm } from '../bodies/form.ts';
import type { Payload } from '../bodies/payload.ts';
import { checkLengthIsGiven } from '../bodies/announced-body.ts';
import { VerifiedBody } from '../bodies/verified-body.ts';

/**
 * Authenticates a form by its own credentials: the signature of the policy that the rest of the form is checked
 * against. Fields that the policy does not allow would be unsigned, so no operation sees them; the payload enforces the
 * policy's size range while the file is read.
 *
 * @param head result of authenticating the head of the request
 * @param bytes of its body, verified as they are read
 * @param bucket that the request was sent to
 * @param maximum size of the form without the content of its file, in bytes
 * @throws S3Error 400 or 403; invalid credentials never make a request anonymous
 */
export async function authenticateForm(
  head: AuthenticatedHead,
  bytes: AsyncIterable<Uint8Array>,
  bucket: string,
  maximum: number,
  { keys, clock, settings, limits }: AuthenticationDeps,
): Promise<Authenticated> {
  const { scheme, request, body } = head;
  const { fields } = body.message;
  checkLengthIsGiven(fields);
  const isSigned = scheme !== 'anonymous';
  if (isSigned && !body.isSigned) {
    // Everything that a form asks for is in its body.
    throw new S3Error('AccessDenied', { message: 'The signature of the request must cover the form.' });
  }
  const length = fields.get('content-length');
  const most = limits.singleUploadBytes;
  const form = await openForm(fields.get('content-type'), bytes, maximum);
  try {
    const claim = readFormClaim(form.fields);
    if (claim === undefined)
      return {
        caller: head.caller,
        scheme,
        request,
        form,
        payload: fileOf(form, length, { minimum: 0, maximum: most }),
      };
    if (isSigned) {
      throw new S3Error('InvalidArgument', {
        message: 'Only one auth mechanism allowed; the form has a policy, and the request has its own signature.',
      });
    }
    if (claim.scheme === 'form-v2') checkVersion2(settings);
    if (claim.scheme === 'form-v4' && settings.strictRegion !== undefined) {
      checkRegion({ region: claim.scope.region, malformed: 'InvalidArgument' }, settings.strictRegion);
    }
    const { user } = await provenUser(keys, claim, (secret) => verifyFormSignature(claim, secret));
    const policy = parsePostPolicy(claim.policy);
    checkPostPolicy(policy, form.fields, bucket, clock.now());
    return {
      caller: user,
      scheme: claim.scheme,
      request,
      form,
      payload: fileOf(form, length, within(policy.size, most)),
    };
  } catch (error) {
    await form.close();
    throw error;
  }
}

function within(size: SizeRange | undefined, most: number): SizeRange {
  return { minimum: size?.minimum ?? 0, maximum: Math.min(size?.maximum ?? most, most) };
}

/**
 * Returns the file as a separate body, described by the fields of the form as a PUT's body is by its headers.
 * @param length of the whole form, as announced
 */
function fileOf({ headers, file, frame }: OpenForm, length: string | undefined, size: SizeRange): Payload {
  const body = heldToSize(file, size, length === undefined ? undefined : Number(length) - frame);
  return new VerifiedBody({ fields: headers, body }, { kind: 'unsigned' }, { digestBody: true });
}
