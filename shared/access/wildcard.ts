/** A pattern as code points, with two numbers below zero for the wildcards. */
export type Pattern = readonly number[];

/** `?`: any one character. */
export const anyOne = -1;
/** `*`: any characters, or none. */
export const anyMany = -2;

/** The code points of a text: a pattern without wildcards. */
export function codePoints(text: string): Pattern {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

/** Reads `*` and `?` as wildcards; there is no way to escape them. */
export function readWildcards(text: string): Pattern {
  return Array.from(text, (character) =>
    character === '*' ? anyMany : character === '?' ? anyOne : character.codePointAt(0)!,
  );
}

/**
 * Whether a pattern matches a whole text. Takes at most pattern × text steps, whatever the pattern: after a mismatch only the
 * last `*` is ever widened, because what the ones before it took can stay.
 */
export function matchesWildcards(pattern: Pattern, text: Pattern): boolean {
  if (pattern.length > text.length && fixedLength(pattern) > text.length) return false;
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let position = 0; position < text.length;) {
    const wanted = pattern[at];
    if (wanted === anyMany) {
      star = at;
      at += 1;
      taken = position;
    } else if (wanted === anyOne || wanted === text[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      at = star + 1;
      taken += 1;
      position = taken;
    } else {
      return false;
    }
  }
  while (pattern[at] === anyMany) at += 1;
  return at === pattern.length;
}

/** Whether there is a text that begins so, has at least one more character, and matches. */
export function canMatchBehind(pattern: Pattern, beginning: Pattern): boolean {
  let reached = skipStars(pattern, new Set([0]));
  for (const character of beginning) {
    const next = new Set<number>();
    for (const at of reached) {
      const wanted = pattern[at];
      if (wanted === anyMany) next.add(at);
      else if (wanted === anyOne || wanted === character) next.add(at + 1);
    }
    reached = skipStars(pattern, next);
  }
  return [...reached].some((at) => at < pattern.length);
}

/** Adds the places behind each `*`, which may stand for nothing. */
function skipStars(pattern: Pattern, places: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(places);
  // A set that grows while it is walked is walked to its new end.
  for (const at of all) if (pattern[at] === anyMany) all.add(at + 1);
  return all;
}

function fixedLength(pattern: Pattern): number {
  return pattern.reduce((count, one) => (one === anyMany ? count : count + 1), 0);
}
