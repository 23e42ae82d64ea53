import { S3Error } from '../errors/s3-error.ts';
import type { XmlElement } from './reader.ts';

// Matches control characters on purpose.
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * Returns the text of an element, part of which may end up in a header: with control characters such as `&#13;&#10;` it
 * could inject further headers.
 * @throws S3Error InvalidRequest
 */
export function plainText(element: XmlElement): string {
  const { text } = element;
  if (!control.test(text)) return text;
  throw new S3Error('InvalidRequest', { message: `${element.name} must not contain control characters.` });
}
