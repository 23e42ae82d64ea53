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

const space = 0x20;
const tab = 0x09;

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

/**
 * Removes blanks (SP and HTAB, RFC 9110 §5.6.3) from both ends of a field's value. Unlike `String.prototype.trim`,
 * removes nothing else: values are bytes as latin1 characters, where 0xA0 ends `à`. Runs in linear time; a pattern such
 * as `/[ \t]+$/` is quadratic in the length of an inner run of blanks.
 */
export function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

/** Trims as {@link trimBlanks} and replaces each inner run of blanks by one space. */
export function foldBlanks(value: string): string {
  const trimmed = trimBlanks(value);
  // Linear, since each run is matched as a whole.
  return /[ \t]/.test(trimmed) ? trimmed.replace(/[ \t]+/g, ' ') : trimmed;
}
