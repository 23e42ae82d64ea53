/*
 * Keys may hold control characters, XML 1.0 may not: neither as they are nor as references. SDKs send them all the same, most
 * as they are. Documents that name keys are read with stand-ins for them: U+FDD0 to U+FDEF, which Unicode gives no meaning
 * and XML allows.
 * https://www.w3.org/TR/xml/#charsets
 */

const firstStandIn = 0xfdd0;
const standIn = /[\ufdd0-\ufdef]/g;

/** NUL is no character of a key. Tab, line feed and carriage return are XML. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0001-\u0008\u000b\u000c\u000e-\u001f]/g;
const reference = /&#(?:x0*([0-9A-Fa-f]{1,2})|0*(\d{1,2}));/g;

/** A document without control characters, and what gives its texts back as they were meant. */
export interface WithoutControls {
  readonly document: string;
  readonly restored: (text: string) => string;
}

/** Puts stand-ins for the control characters of a document. Where a stand-in stands already, all is left as it is. */
export function withoutControls(document: string): WithoutControls {
  if (document.search(standIn) >= 0) return { document, restored: (text) => text };
  const bare = document.replace(control, (character) => standInFor(character.charCodeAt(0)));
  // In a CDATA section a reference means itself.
  const hidden = bare.includes('<![CDATA[') ? bare : bare.replace(reference, hideReference);
  return {
    document: hidden,
    restored: (text) => text.replace(standIn, (found) => String.fromCharCode(found.charCodeAt(0) - firstStandIn)),
  };
}

function hideReference(found: string, hexadecimal: string | undefined, decimal: string | undefined): string {
  const code = hexadecimal === undefined ? Number(decimal) : parseInt(hexadecimal, 16);
  return String.fromCharCode(code).search(control) >= 0 ? standInFor(code) : found;
}

function standInFor(code: number): string {
  return String.fromCharCode(firstStandIn + code);
}
