/*
 * Text in headers. On the way a header is bytes: `fetch` takes and returns a character for each of them, none above U+00FF. What clients
 * write is UTF-8. Metadata is in addition encoded as RFC 2047 says, in ASCII, as S3 does and its own console shows it.
 */

/** Returns the text of a header to send: a character for each byte of its UTF-8. */
export const toHeader = (text: string): string =>
  isAscii(text) ? text : String.fromCharCode(...new TextEncoder().encode(text));

/** Returns the text of a header that came: UTF-8, or else Latin-1 as it is. */
export function fromHeader(value: string): string {
  if (isAscii(value)) return value;
  return decoded('utf-8', bytesOf(value)) ?? value;
}

/** The most bytes in an encoded word: it has at most 75 characters. */
const maxBytes = 45;

/** Encodes metadata: ASCII stays as it is, unless it would be read as encoded words. */
export function encodeMetadata(text: string): string {
  if (isAscii(text) && decodeMetadata(text) === text) return text;
  const words: number[][] = [[]];
  for (const char of text.toWellFormed()) {
    const bytes = new TextEncoder().encode(char);
    if (words.at(-1)!.length + bytes.length > maxBytes) words.push([]);
    words.at(-1)!.push(...bytes);
  }
  return words.map((bytes) => `=?UTF-8?B?${btoa(String.fromCharCode(...bytes))}?=`).join(' ');
}

const word = /=\?([\w-]+)\?([BbQq])\?([^? ]*)\?=/g;
/** Blanks between two encoded words only keep them apart. */
const gap = /(\?=)[ \t]+(?==\?[\w-]+\?[BbQq]\?[^? ]*\?=)/g;

/** Decodes metadata: encoded words, or UTF-8. What is neither stays as it is. */
export function decodeMetadata(value: string): string {
  return fromHeader(value)
    .replace(gap, '$1')
    .replace(word, (whole, charset: string, encoding: string, text: string) => {
      const bytes = encoding.toUpperCase() === 'B' ? fromBase64(text) : fromQuoted(text);
      return (bytes && decoded(charset, bytes)) ?? whole;
    });
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e\t]*$/.test(text);
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return bytesOf(atob(text));
  } catch {
    return undefined;
  }
}

const fromQuoted = (text: string): Uint8Array =>
  bytesOf(
    text
      .replaceAll('_', ' ')
      .replace(/=([\dA-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
  );

/** Returns the text of bytes; undefined if they are none in this character set, or the browser does not know it. */
function decoded(charset: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
