/*
 * The syntax of header fields (RFC 9110 §5). If a field violates it, Node refuses to send the whole message.
 */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const value = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Tells whether a text is a valid field name: a token (RFC 9110 §5.6.2), which has neither blanks nor colons. */
export function isFieldName(text: string): boolean {
  return token.test(text);
}

/**
 * Tells whether a text, whose characters are bytes, is a valid field value: no control characters except tab (RFC 9110
 * §5.5).
 */
export function isFieldValue(text: string): boolean {
  return value.test(text);
}
