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
 * Whether a pattern matches a whole text. What stands before the first `*` and behind the last one is where it must be; the rest
 * is looked for between. Takes at most pattern × text / 32 steps, whatever the pattern: both may be written to take long.
 */
export function matchesWildcards(pattern: Pattern, text: Pattern): boolean {
  const first = pattern.indexOf(anyMany);
  if (first < 0) return pattern.length === text.length && fits(pattern, text, 0);
  const last = pattern.lastIndexOf(anyMany);
  const end = text.length - (pattern.length - last - 1);
  if (first > end || !fits(pattern.slice(0, first), text, 0) || !fits(pattern.slice(last + 1), text, end)) return false;
  return isWithin(pattern.slice(first + 1, last), text.slice(first, end));
}

/** Whether a pattern without `*` matches what stands at a place of a text that is long enough. */
function fits(pattern: Pattern, text: Pattern, at: number): boolean {
  return pattern.every((wanted, index) => wanted === anyOne || wanted === text[at + index]);
}

/**
 * Whether some stretch of a text matches a pattern, in which `*` may occur. This is the automaton of the pattern, 32 states to a
 * word (the "shift and" of Baeza-Yates and Gonnet): a state says how many characters of the pattern are found; the next character
 * leads to the next state where it is the wanted one, and a `*` lets a state stay.
 */
function isWithin(pattern: Pattern, text: Pattern): boolean {
  const length = fixedLength(pattern);
  if (length === 0 || length > text.length) return length === 0;
  const words = (length >>> 5) + 1;
  const stays = new Uint32Array(words);
  const steps = new Map(Array.from(new Set(pattern), (wanted) => [wanted, new Uint32Array(words)]));
  const stepsOfAll = steps.get(anyOne) ?? new Uint32Array(words);
  const mark = (states: Uint32Array, state: number): void => {
    states[state >>> 5]! |= 1 << (state & 31);
  };
  mark(stays, 0);
  let state = 0;
  for (const wanted of pattern) {
    if (wanted === anyMany) mark(stays, state);
    else mark(steps.get(wanted)!, state++);
  }

  const reached = new Uint32Array(words);
  mark(reached, 0);
  for (const character of text) {
    const own = steps.get(character) ?? stepsOfAll;
    let carried = 0;
    for (let word = 0; word < words; word += 1) {
      const before = reached[word]!;
      const stepped = before & (own[word]! | stepsOfAll[word]!);
      reached[word] = (stepped << 1) | carried | (before & stays[word]!);
      carried = stepped >>> 31;
    }
    if ((reached[words - 1]! >>> (length & 31)) & 1) return true;
  }
  return false;
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
