import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { RequestRefused, type S3Endpoint, type S3Request } from '../../../shared/ports/s3-endpoint.ts';
import { Untrue } from './copied-content.ts';
import { NotCopied } from './destination.ts';
import { wholeOf, type SourceVersion } from './source-listing.ts';

const maxDocument = 1024 * 1024;

/** What a request says of a version. */
export type OfVersion = Required<Pick<S3Request, 'bucket' | 'query'>> & { readonly key: string };

/** Returns what a request for a version says of it. */
export function requestOf(bucket: string, key: string, { id }: SourceVersion): OfVersion {
  return { bucket, key, query: id === undefined ? {} : { versionId: id } };
}

const descriptive =
  /^(?:content-(?:type|disposition|encoding|language)|cache-control|expires|x-amz-(?:meta-.+|website-redirect-location|storage-class|object-lock-.+))$/;

/** Returns the headers of a response that are those of an upload of the same. */
export function describing(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => descriptive.test(name)));
}

/**
 * Returns a document about a version; undefined if the source has none, or does not show it.
 * @throws NotCopied
 */
export async function documentOf(
  endpoint: S3Endpoint,
  of: OfVersion,
  name: string,
  what: string,
  onLoss: (what: string) => void,
): Promise<Buffer | undefined> {
  try {
    const { bytes } = await endpoint.send({ ...of, method: 'GET', query: { ...of.query, [name]: '' } });
    return await wholeOf(bytes, maxDocument);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    if (isOfCredentials(error)) throw refusalOf(error);
    if (mayPassLater(error)) throw new NotCopied(`${what}: ${error.code}`);
    if (error.status !== 404) onLoss(`copied without ${what}: ${error.code}`);
    return undefined;
  }
}

/** Errors about whoever asks, which every other request would get as well. Those of temporary credentials have the status 400 at AWS. */
const ofCredentials: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidToken',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
]);

/** Tells whether an S3 no longer accepts the credentials. */
export function isOfCredentials({ code }: RequestRefused): boolean {
  return ofCredentials.has(code);
}

/** Tells whether a refusal may not come again, although it was tried several times. */
export function mayPassLater({ status, code }: RequestRefused): boolean {
  return (status >= 500 && status !== 501) || status === 429 || code === 'RequestTimeout' || code === 'SlowDown';
}

/** Returns why a version is not copied that a source does not show; the error itself, if it is not about the version alone. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof Untrue) return new NotCopied(error.message);
  if (!(error instanceof RequestRefused)) return error;
  const { status, code, message } = error;
  if (isOfCredentials(error)) return new OperatorError(`the credentials are refused: ${code}: ${message}`);
  if (status === 404) return new NotCopied('it is gone at the source', { isFinal: true });
  if (code === 'InvalidObjectState') return new NotCopied('it is archived at the source', { isFinal: true });
  if (status === 400 && !mayPassLater(error)) {
    return new NotCopied(`it cannot be read without the key of its owner (SSE-C): ${code}`, { isFinal: true });
  }
  return new NotCopied(`${code}: ${message}`);
}
