/*
 * Keys may hold control characters, XML 1.0 may not: neither as they are nor as references. SDKs send them all the same, most
 * as they are. Documents that name keys are read with stand-ins for them: U+FDD0 to U+FDEF, which Unicode gives no meaning
 * and XML allows.
 * https://www.w3.org/TR/xml/#charsets
 */

const firstStandIn = 0xfdd0;
const lastStandIn = 0xfdef;
const standIn = /[\ufdd0-\ufdef]/;

/** NUL is no character of a key. Tab, line feed and carriage return are XML. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0001-\u0008\u000b\u000c\u000e-\u001f]/g;
const reference = /&#(?:x0*([0-9A-Fa-f]{1,2})|0*(\d{1,2}));/g;

/** Whether a document has characters of its own that {@link putStandIns} would put: then all is left as it is. */
export function containsStandIns(document: string): boolean {
  return document.search(standIn) >= 0;
}

/** Puts stand-ins for the control characters of a text. @param referencesToo whether references to them are meant as such */
export function putStandIns(text: string, referencesToo: boolean): string {
  const bare = text.replace(control, (character) => standInFor(character.charCodeAt(0)));
  return referencesToo ? bare.replace(reference, hideReference) : bare;
}

/** A text with the control characters that stand-ins were put for. In one pass over its characters: it may be long, and all of them. */
export function restoreControls(text: string): string {
  if (!containsStandIns(text)) return text;
  const units = new Uint16Array(text.length);
  for (let at = 0; at < units.length; at += 1) {
    const unit = text.charCodeAt(at);
    units[at] = unit >= firstStandIn && unit <= lastStandIn ? unit - firstStandIn : unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

function hideReference(found: string, hexadecimal: string | undefined, decimal: string | undefined): string {
  const code = hexadecimal === undefined ? Number(decimal) : parseInt(hexadecimal, 16);
  return String.fromCharCode(code).search(control) >= 0 ? standInFor(code) : found;
}

function standInFor(code: number): string {
  return String.fromCharCode(firstStandIn + code);
}
