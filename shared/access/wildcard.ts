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

/** Whether a pattern matches a whole text. Takes no longer than {@link matchingPatterns}. */
export function matchesWildcards(pattern: Pattern, text: Pattern): boolean {
  return matchingPatterns([pattern], text).size > 0;
}

/**
 * Which of some patterns match a whole text, by their places in the list. What stands before the first `*` of a pattern and behind
 * its last one is where it must be; what is between is looked for, for all patterns at once. Takes at most (all patterns together)
 * × text / 32 steps, whatever they are: both may be written to take long.
 */
export function matchingPatterns(patterns: readonly Pattern[], text: Pattern): ReadonlySet<number> {
  const matching = new Set<number>();
  const open = new Map<number, Pattern>();
  for (const [place, pattern] of patterns.entries()) {
    const verdict = judgeByEnds(pattern, text);
    if (verdict === true) matching.add(place);
    else if (verdict === undefined) open.set(place, pattern);
  }
  if (open.size > 0) for (const place of searchTogether(open, text)) matching.add(place);
  return matching;
}

/** Whether a pattern matches, as far as its ends can tell; undefined if something must be looked for between two stars. */
function judgeByEnds(pattern: Pattern, text: Pattern): boolean | undefined {
  const first = pattern.indexOf(anyMany);
  if (first < 0) return pattern.length === text.length && fits(pattern, 0, pattern.length, text, 0);
  const last = pattern.lastIndexOf(anyMany);
  const end = text.length - (pattern.length - last - 1);
  if (first > end || !fits(pattern, 0, first, text, 0) || !fits(pattern, last + 1, pattern.length, text, end))
    return false;
  let between = 0;
  for (let at = first + 1; at < last; at += 1) if (pattern[at] !== anyMany) between += 1;
  if (between === 0) return true;
  return between > end - first ? false : undefined;
}

/** Whether a stretch of a pattern, without `*`, matches what stands at a place of a text that is long enough. */
function fits(pattern: Pattern, from: number, to: number, text: Pattern, at: number): boolean {
  for (let index = from; index < to; index += 1) {
    if (pattern[index] !== anyOne && pattern[index] !== text[at + index - from]) return false;
  }
  return true;
}

/**
 * The automaton of all patterns side by side, 32 states to a word (the "shift and" of Baeza-Yates and Gonnet): a state says how many
 * characters of its pattern have been matched; the next character leads to the next state where it is the wanted one, and a `*` lets a
 * state stay. The last state of a pattern wants nothing, so none leads over into the next pattern.
 */
function searchTogether(patterns: ReadonlyMap<number, Pattern>, text: Pattern): readonly number[] {
  let states = 0;
  for (const pattern of patterns.values()) states += fixedLength(pattern) + 1;
  const words = (states + 31) >>> 5;
  const [reached, stays, stepsOfAll] = [new Uint32Array(words), new Uint32Array(words), new Uint32Array(words)];
  // Of the two, the shorter says which characters matter.
  const letters = states < text.length ? [...patterns.values()].flat() : text;
  const steps = new Map(Array.from(new Set(letters), (letter) => [letter, new Uint32Array(words)]));
  const mark = (set: Uint32Array | undefined, state: number): void => {
    if (set) set[state >>> 5]! |= 1 << (state & 31);
  };
  const ends: (readonly [place: number, state: number])[] = [];
  let state = 0;
  for (const [place, pattern] of patterns) {
    mark(reached, state);
    for (const wanted of pattern) {
      if (wanted === anyMany) mark(stays, state);
      else mark(wanted === anyOne ? stepsOfAll : steps.get(wanted), state++);
    }
    ends.push([place, state++]);
  }

  for (const character of text) {
    const own = steps.get(character) ?? stepsOfAll;
    let carried = 0;
    for (let word = 0; word < words; word += 1) {
      const before = reached[word]!;
      const stepped = before & (own[word]! | stepsOfAll[word]!);
      reached[word] = (stepped << 1) | carried | (before & stays[word]!);
      carried = stepped >>> 31;
    }
  }
  return ends.filter(([, end]) => (reached[end >>> 5]! >>> (end & 31)) & 1).map(([place]) => place);
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
