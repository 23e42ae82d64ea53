/**
 * Compares two strings by their UTF-8 bytes, which is also the order of their code points and that of sort keys.
 * JavaScript's `<` compares UTF-16: it puts U+1F600 before U+FF01, since the first begins with the surrogate 0xD83D.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? codePointRank(x) - codePointRank(y) : x - y;
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 code unit, with surrogates, which encode code points above U+FFFF, ranked last. */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
