import { S3Error } from '../../errors/s3-error.ts';

/** Creates a 400 MalformedPolicy error that says what is wrong, with an excerpt of the policy. */
export function malformedPolicy(what: string, where?: string, cause?: unknown): S3Error {
  return new S3Error('MalformedPolicy', {
    message: where === undefined ? what : `${what}: ${excerpt(where)}`,
    cause,
  });
}

const maxExcerptLength = 128;

function excerpt(text: string): string {
  return text.length > maxExcerptLength ? `${text.slice(0, maxExcerptLength)}…` : text;
}
