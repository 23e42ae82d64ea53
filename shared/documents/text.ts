import { day } from '../ports/durations.ts';

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Returns an element. @param attributes as written, with a leading space */
export function tag(name: string, inner: string, attributes = ''): string {
  return inner === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${inner}</${name}>`;
}

/** Returns a whole document. S3's root elements have a namespace, except those of a few responses. */
export function document(root: string, namespace: string | undefined, inner: string): string {
  return declaration + tag(root, inner, namespace === undefined ? '' : ` xmlns="${escapeXml(namespace)}"`);
}

/** The last day written, up to its `T`. A page of a listing has a thousand times but only a few days. */
let lastDay = { start: NaN, text: '' };
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Returns a time as in S3's documents: ISO 8601, UTC, with milliseconds. */
export function timestamp(milliseconds: number): string {
  const start = Math.floor(milliseconds / day) * day;
  if (start !== lastDay.start) lastDay = { start, text: new Date(start).toISOString().slice(0, 'yyyy-mm-ddT'.length) };
  const rest = milliseconds - start;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  return `${lastDay.text}${clock}.${String(rest % 1000).padStart(3, '0')}Z`;
}

const encoder = new TextEncoder();

/** Returns the length of a text in bytes of UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

// Matches control characters on purpose.
// eslint-disable-next-line no-control-regex
const suspicious = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/;
// eslint-disable-next-line no-control-regex
const unsafe = /[&<>"\u0000-\u001f\p{Surrogate}\ufffe\uffff]/gu;

const predefined: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes text for element content and attribute values.
 *
 * Writes control characters, U+FFFE and U+FFFF as numeric references, although XML 1.0 does not allow most of them: S3
 * does the same, lenient parsers restore the key, and clients can ask for encoding-type=url. CR, LF and TAB become
 * references because parsers normalise the raw characters. NUL and unpaired surrogates cannot occur in a UTF-8 key and
 * become U+FFFD.
 */
export function escapeXml(text: string): string {
  return suspicious.test(text) ? text.replace(unsafe, escapeCharacter) : text;
}

// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\p{Surrogate}\ufffe\uffff]/u;

/** Tells whether XML can carry a text: https://www.w3.org/TR/xml/#charsets */
export function isXmlText(text: string): boolean {
  return !notInXml.test(text);
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0 || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd';
  return predefined[character] ?? (code === 13 ? '&#13;' : `&#x${code.toString(16).toUpperCase()};`);
}
