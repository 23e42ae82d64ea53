/** Returns whether a text is an origin of a CORS rule: from the protocol to the host or port, with at most one `*`. */
export function isOriginPattern(text: string): boolean {
  if (text === '*') return true;
  return /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/i.test(text) && text.split('*').length <= 2;
}
