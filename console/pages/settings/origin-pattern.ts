/** Returns whether a text is an origin as the specification wants it: from the protocol to the host or port, with at most one `*`. */
export function isOriginPattern(text: string): boolean {
  if (text === '*') return true;
  return /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/i.test(text) && text.split('*').length <= 2;
}
