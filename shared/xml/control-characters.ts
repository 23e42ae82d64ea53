/*
 * Keys may contain control characters, but XML 1.0 allows them neither raw nor as references. SDKs send them all the same,
 * mostly raw. Documents that name keys are therefore parsed with stand-ins for them: U+FDD0 to U+FDEF, which Unicode
 * defines as noncharacters and XML allows.
 * https://www.w3.org/TR/xml/#charsets
 */

const firstStandIn = 0xfdd0;
const lastStandIn = 0xfdef;
const standIn = /[\ufdd0-\ufdef]/;

/** Without NUL, which keys cannot contain, and without tab, line feed and carriage return, which XML allows. */
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const control = /[\u0001-\u0008\u000b\u000c\u000e-\u001f]/g;
const reference = /&#(?:x0*([0-9A-Fa-f]{1,2})|0*(\d{1,2}));/g;

/**
 * Tells whether a document already contains the characters that {@link putStandIns} uses; it is then left unchanged.
 */
export function containsStandIns(document: string): boolean {
  return document.search(standIn) >= 0;
}

/** Replaces control characters by stand-ins. @param referencesToo whether to replace references to them as well */
export function putStandIns(text: string, referencesToo: boolean): string {
  const bare = text.replace(control, (character) => standInFor(character.charCodeAt(0)));
  return referencesToo ? bare.replace(reference, hideReference) : bare;
}

/**
 * Restores the control characters that stand-ins replaced. Takes a single pass, since the text may be long and consist
 * of nothing else.
 */
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
