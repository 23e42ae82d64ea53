import { S3Error } from '../../errors/s3-error.ts';
import { checkRegion } from '../../signing/claim.ts';
import { readFormClaim, verifyFormSignature } from '../../signing/form-claim.ts';
import { checkPostPolicy, heldToSize, parsePostPolicy, type SizeRange } from '../../signing/post-policy.ts';
import { checkVersion2, type Authenticated, type AuthenticatedHead, type AuthenticationDeps } from './authenticated.ts';
import { openForm, type OpenForm } from '../bodies/form.ts';
import type { Payload } from '../bodies/payload.ts';
import { provenUser } from './proven-user.ts';
import { checkLengthIsGiven } from '../bodies/announced-body.ts';
import { VerifiedBody } from '../bodies/verified-body.ts';

/**
 * Authenticates a form. It brings its own credentials: a signature of the policy that all else
 * in the form is held to. What a form says and its policy does not allow is as good as unsigned, so no operation
 * gets to see it; what the policy says of the size of the file the payload is held to while it is read.
 *
 * @param head what authentication found in the head of the request
 * @param bytes of its body, verified as they are read
 * @param bucket that the request was sent to
 * @param maximum the most bytes that the form may have beside the content of its file
 * @throws S3Error 400 or 403; whose credentials do not hold is never taken for anonymous
 */
export async function authenticateForm(
  head: AuthenticatedHead,
  bytes: AsyncIterable<Uint8Array>,
  bucket: string,
  maximum: number,
  { keys, clock, settings }: AuthenticationDeps,
): Promise<Authenticated> {
  const { scheme, request, body } = head;
  const { fields } = body.message;
  checkLengthIsGiven(fields);
  const isSigned = scheme !== 'anonymous';
  if (isSigned && !body.isSigned) {
    // Everything that a form asks for stands in its body.
    throw new S3Error('AccessDenied', { message: 'The signature of the request must cover the form.' });
  }
  const form = await openForm(fields.get('content-type'), bytes, maximum);
  try {
    const claim = readFormClaim(form.fields);
    if (claim === undefined) return { caller: head.caller, scheme, request, form, payload: fileOf(form) };
    if (isSigned) {
      throw new S3Error('InvalidArgument', {
        message: 'Only one auth mechanism allowed; the form has a policy, and the request has a signature of its own.',
      });
    }
    if (claim.scheme === 'form-v2') checkVersion2(settings);
    if (claim.scheme === 'form-v4' && settings.strictRegion !== undefined) {
      checkRegion({ region: claim.scope.region, malformed: 'InvalidArgument' }, settings.strictRegion);
    }
    const { user } = await provenUser(keys, claim.accessKeyId, (secret) => verifyFormSignature(claim, secret));
    const policy = parsePostPolicy(claim.policy);
    checkPostPolicy(policy, form.fields, bucket, clock.now());
    return { caller: user, scheme: claim.scheme, request, form, payload: fileOf(form, policy.size) };
  } catch (error) {
    await form.close();
    throw error;
  }
}

/** The file as a body of its own, announced by the fields of the form as that of a PUT is by its header. */
function fileOf({ headers, file }: OpenForm, size?: SizeRange): Payload {
  const body = size === undefined ? file : heldToSize(file, size);
  return new VerifiedBody({ fields: headers, body }, { kind: 'unsigned' }, { digestBody: true });
}
