import { checked, text } from './schema.ts';

// Matches control characters on purpose.
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * A text, part of which may end up in a header: with control characters such as `&#13;&#10;` it could inject further
 * headers.
 */
export const plainText = checked(text, (value, element) => {
  if (control.test(value)) throw element.invalid(`${element.name} must not contain control characters.`);
});
