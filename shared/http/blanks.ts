const space = 0x20;
const tab = 0x09;

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

/**
 * A field's value without the blanks (SP and HTAB, RFC 9110 §5.6.3) at its ends. Unlike `String.prototype.trim` it takes nothing
 * else away: values are bytes as latin1 characters, and 0xA0 is the end of `à` there. Looks at each blank at the ends once and at no
 * other character; a pattern such as `/[ \t]+$/` begins anew at each blank of a run inside, which takes the square of its length.
 */
export function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

/** As {@link trimBlanks}, and each run of blanks inside becomes one space. */
export function foldBlanks(value: string): string {
  const trimmed = trimBlanks(value);
  // A run is matched as a whole wherever a match begins, so this is one pass.
  return /[ \t]/.test(trimmed) ? trimmed.replace(/[ \t]+/g, ' ') : trimmed;
}
