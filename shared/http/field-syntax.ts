/*
 * What a header field may be made of (RFC 9110 §5). Node refuses to send anything else, and then nothing is sent at all.
 */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const value = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether a text can be the name of a field: a token (RFC 9110 §5.6.2), which has neither blanks nor colons. */
export function isFieldName(text: string): boolean {
  return token.test(text);
}

/** Whether a text, whose characters are bytes, can be the value of a field: no control characters but the tab (RFC 9110 §5.5). */
export function isFieldValue(text: string): boolean {
  return value.test(text);
}
