import { S3Error } from '../errors/s3-error.ts';
import type { XmlElement } from './reader.ts';

// The control characters are what is looked for.
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * The text of an element of which something may end up in a header: references such as `&#13;&#10;` would let it carry
 * headers of its own.
 * @throws S3Error InvalidRequest
 */
export function plainText(element: XmlElement): string {
  const { text } = element;
  if (!control.test(text)) return text;
  throw new S3Error('InvalidRequest', { message: `${element.name} must not contain control characters.` });
}
