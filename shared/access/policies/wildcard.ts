import { atOnce } from '../../ports/event-loop.ts';

/** A pattern as code points, with two negative numbers for the wildcards. */
export type Pattern = readonly number[];

/** Work that yields the steps taken since its last yield, as an event-loop budget counts them: microseconds. */
export type Stepwise<Result> = Generator<number, Result, void>;

/** `?`: any single character. */
const anyOne = -1;
/** `*`: any number of characters. */
export const anyMany = -2;

/** Returns the code points of a text: a pattern without wildcards. */
export function codePoints(text: string): Pattern {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

/** Reads `*` and `?` as wildcards, which cannot be escaped. */
export function readWildcards(text: string): Pattern {
  return Array.from(text, (character) =>
    character === '*' ? anyMany : character === '?' ? anyOne : character.codePointAt(0)!,
  );
}

/** Tells whether a pattern matches a whole text, in one go: for short texts only. */
export function matchesWildcards(pattern: Pattern, text: Pattern): boolean {
  return atOnce(new PatternSet([pattern]).matching(text)).size > 0;
}

/**
 * Tells whether a pattern matches any text with this beginning and at least one more character, in one go: for short
 * beginnings only.
 */
export function canMatchBehind(pattern: Pattern, beginning: Pattern): boolean {
  let reached: ReadonlySet<number> = new Set([0]);
  for (const character of beginning) {
    const next = new Set<number>();
    for (let at of reached) {
      if (pattern[at] === anyMany) next.add(at);
      while (pattern[at] === anyMany) at += 1;
      if (pattern[at] === anyOne || pattern[at] === character) next.add(at + 1);
    }
    reached = next;
  }
  return [...reached].some((at) => at < pattern.length);
}

/** The comparisons that patterns are tried with one by one, some 0.1 ms. Those of few policies need more. */
const mostComparisons = 1 << 15;
/** The comparisons in a step; a written character takes as long as four. */
export const comparisonsPerStep = 256;

/**
 * Patterns to match against one or more texts: one by one, which is quick for patterns as people write them, or, if
 * that takes long, all at once, at the same cost for each character of the text, whatever the patterns are.
 */
export class PatternSet {
  readonly #patterns: readonly Pattern[];
  #states: PatternStates | undefined;

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns;
  }

  /** Yields steps and returns the indexes of the patterns that match a whole text. */
  *matching(text: Pattern): Stepwise<ReadonlySet<number>> {
    const comparisons = { left: mostComparisons };
    const matching = new Set<number>();
    const undecided = this.#patterns.findIndex((pattern, place) => {
      const matches = matchOne(pattern, text, comparisons);
      if (matches) matching.add(place);
      return matches === undefined;
    });
    yield (mostComparisons - comparisons.left) / comparisonsPerStep;
    if (undecided < 0) return matching;
    this.#states ??= yield* PatternStates.of(this.#patterns);
    return yield* this.#states.matching(text);
  }
}

/** Tries one pattern: after a mismatch, its last `*` takes one more character. @returns undefined if none are left */
function matchOne(pattern: Pattern, text: Pattern, comparisons: { left: number }): boolean | undefined {
  let [at, star, resume] = [0, -1, 0];
  for (let read = 0; read < text.length || pattern[at] === anyMany; comparisons.left -= 1) {
    if (comparisons.left <= 0) return undefined;
    if (pattern[at] === anyMany) {
      [star, resume] = [at, read];
      at += 1;
      if (at === pattern.length) return true;
    } else if (pattern[at] === anyOne || pattern[at] === text[read]) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      at = star + 1;
      read = resume += 1;
    } else return false;
  }
  comparisons.left -= 1;
  return at === pattern.length;
}

/** Beside `anyOne` and `anyMany`: the states before the first character of each pattern, and after its last. */
const [first, last] = [-3, -4];
/** The most bits that are kept for the characters of texts: 8 MiB. */
const mostKeptBits = 1 << 26;

/**
 * The states of some patterns side by side, as bits of a number (the "shift-and" algorithm of Baeza-Yates and Gonnet). A
 * state is the number of characters of its pattern that have matched; it advances if the next character is the wanted
 * one, and a `*` lets it stay. The last state of a pattern wants nothing, so none goes on into the next pattern.
 */
class PatternStates {
  /** The states by what they want: a character, a wildcard, or none of these. */
  readonly #wanting = new Map<number, number[]>();
  readonly #bits = new Map<number, bigint>();
  #size = 0;

  static *of(patterns: readonly Pattern[]): Stepwise<PatternStates> {
    const states = new PatternStates();
    for (const pattern of patterns) {
      states.#add(pattern);
      yield (4 * pattern.length) / comparisonsPerStep;
    }
    return states;
  }

  #add(pattern: Pattern): void {
    for (const wanted of [first, ...pattern, last]) {
      const states = this.#wanting.get(wanted);
      if (states) states.push(this.#size);
      else this.#wanting.set(wanted, [this.#size]);
      if (wanted !== first && wanted !== anyMany) this.#size += 1;
    }
  }

  /** Yields steps and returns the indexes of the patterns that match a whole text. */
  *matching(text: Pattern): Stepwise<ReadonlySet<number>> {
    const stays = this.#bitsOf(anyMany);
    const advancesOnAll = this.#bitsOf(anyOne);
    let reached = this.#bitsOf(first);
    let steps = 0;
    for (const character of text) {
      if (!this.#bits.has(character)) steps += this.#size / 1000;
      const advances = this.#wanting.has(character) ? this.#bitsOf(character) | advancesOnAll : advancesOnAll;
      reached = ((reached & advances) << 1n) | (reached & stays);
      steps += 0.25 + this.#size / 16_000;
      if (steps < 16) continue;
      yield steps;
      steps = 0;
    }
    yield steps;
    const ended = reached & this.#bitsOf(last);
    if (ended === 0n) return new Set();
    const digits = ended.toString(2);
    const ends = this.#wanting.get(last) ?? [];
    return new Set([...ends.keys()].filter((place) => digits[digits.length - 1 - ends[place]!] === '1'));
  }

  #bitsOf(wanted: number): bigint {
    const known = this.#bits.get(wanted);
    if (known !== undefined) return known;
    if (this.#bits.size * this.#size > mostKeptBits) this.#bits.clear();
    const bytes = Buffer.alloc((this.#size >>> 3) + 1);
    for (const state of this.#wanting.get(wanted) ?? []) bytes[bytes.length - 1 - (state >>> 3)]! |= 1 << (state & 7);
    const bits = BigInt(`0x${bytes.toString('hex')}`);
    this.#bits.set(wanted, bits);
    return bits;
  }
}
