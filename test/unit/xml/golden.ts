import { expect } from 'vitest';
import { S3Error } from '../../../shared/errors/s3-error.ts';

/** The namespace the goldens are written in. */
export const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A golden written over several lines: line ends and indentation between elements are for the eye only. */
export function golden(strings: TemplateStringsArray): string {
  const body = strings.join('').trim().replace(/\n\s*/g, '');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body}`;
}

/** The code of the S3Error that is thrown. */
export function codeOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(S3Error);
    return (error as S3Error).code;
  }
  return 'nothing was thrown';
}
