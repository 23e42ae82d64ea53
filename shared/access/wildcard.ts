import { atOnce } from '../ports/event-loop.ts';
import type { Stepwise } from './pace.ts';

/** A pattern as code points, with two negative numbers for the wildcards. */
export type Pattern = readonly number[];

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

/** The number of steps after which a generator yields. */
const stepsAtOnce = 1 << 14;

interface Prepared {
  /** The indexes of the first and the last `*`, or -1. */
  readonly first: number;
  readonly last: number;
  /** The number of characters between those. */
  readonly between: number;
  /** The texts between those, if they are long and have no `?`: such a pattern is searched for separately. */
  readonly stretches: readonly Stretch[] | undefined;
}

/** A text without wildcards to search for. */
interface Stretch {
  readonly text: Pattern;
  /** For each index, the length of the longest proper prefix that ends there (Knuth, Morris and Pratt). */
  readonly overlaps: Uint32Array;
}

/** Longer patterns take fewer steps separately than together with others. */
const longBetween = 96;

/**
 * Patterns to match against one or more texts. The part before a pattern's first `*` and the part after its last have
 * fixed positions; the rest is searched for, for all patterns at once. A text takes at most (all patterns together) ×
 * text / 32 steps, plus the reading of both, even if they are made to be slow. A long pattern without `?` takes only 3
 * × (pattern + text).
 */
export class PatternSet {
  readonly #patterns: readonly Pattern[];
  /** The patterns that have been matched against a text. */
  readonly #prepared: Prepared[] = [];
  #automaton: Automaton | undefined;

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns;
  }

  /** Yields steps and returns the indexes of the patterns that match a whole text. */
  *matching(text: Pattern): Stepwise<ReadonlySet<number>> {
    const matching = new Set<number>();
    const open = new Set<number>();
    let steps = 0;
    for (const [place, pattern] of this.#patterns.entries()) {
      if (steps > stepsAtOnce) {
        yield steps;
        steps = 0;
      }
      steps += this.#prepared[place] ? 1 : 4 * pattern.length;
      const { first, last, between, stretches } = (this.#prepared[place] ??= prepare(pattern));
      const suffixLength = pattern.length - last - 1;
      const end = text.length - suffixLength;
      if (first < 0 ? pattern.length !== text.length : first + between > end) continue;
      const beginning = first < 0 ? pattern.length : first;
      const equal = equalUpTo(pattern, 0, beginning, text, 0);
      steps += equal;
      if (equal < beginning) continue;
      const equalSuffix = first < 0 ? suffixLength : equalUpTo(pattern, last + 1, pattern.length, text, end);
      steps += equalSuffix;
      if (equalSuffix < suffixLength) continue;
      if (between === 0) matching.add(place);
      else if (stretches === undefined) open.add(place);
      else {
        if (isWithin(stretches, text, first, end)) matching.add(place);
        steps += 2 * (end - first);
      }
    }
    yield steps;
    if (open.size === 0) return matching;
    this.#automaton ??= yield* Automaton.of(
      new Map(
        [...this.#patterns.entries()].filter(([place]) => {
          const { between, stretches } = this.#prepared[place]!;
          return between > 0 && stretches === undefined;
        }),
      ),
    );
    for (const place of yield* this.#automaton.matching(text)) if (open.has(place)) matching.add(place);
    return matching;
  }
}

function prepare(pattern: Pattern): Prepared {
  const first = pattern.indexOf(anyMany);
  const last = pattern.lastIndexOf(anyMany);
  let between = 0;
  for (let at = first + 1; at < last; at += 1) if (pattern[at] !== anyMany) between += 1;
  const isLong = between > longBetween && !pattern.slice(first, last).includes(anyOne);
  return { first, last, between, stretches: isLong ? stretchesOf(pattern, first, last) : undefined };
}

function stretchesOf(pattern: Pattern, first: number, last: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = first + 1; at <= last; at += 1) {
    const end = pattern.indexOf(anyMany, at);
    if (end > at) stretches.push(stretchOf(pattern.slice(at, end)));
    at = end;
  }
  return stretches;
}

function stretchOf(text: Pattern): Stretch {
  const overlaps = new Uint32Array(text.length);
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[length] !== text[at]) length = overlaps[length - 1]!;
    if (text[length] === text[at]) length += 1;
    overlaps[at] = length;
  }
  return { text, overlaps };
}

/**
 * Tells whether stretches follow one another in part of a text. Takes the first occurrence of each, which leaves the
 * most room for the next.
 */
function isWithin(stretches: readonly Stretch[], text: Pattern, from: number, to: number): boolean {
  let at = from;
  for (const { text: wanted, overlaps } of stretches) {
    let length = 0;
    for (; at < to && length < wanted.length; at += 1) {
      while (length > 0 && wanted[length] !== text[at]) length = overlaps[length - 1]!;
      if (wanted[length] === text[at]) length += 1;
    }
    if (length < wanted.length) return false;
  }
  return true;
}

/**
 * Counts the leading characters of a part of a pattern without `*` that match a text from an index on. The text must be
 * long enough.
 */
function equalUpTo(pattern: Pattern, from: number, to: number, text: Pattern, at: number): number {
  let index = from;
  while (index < to && (pattern[index] === anyOne || pattern[index] === text[at + index - from])) index += 1;
  return index - from;
}

/** The maximum number of words of bits kept for the characters of texts. */
const maxKeptWords = 1 << 18;

/**
 * An automaton for all patterns side by side, with 32 states to a word (the "shift-and" algorithm of Baeza-Yates and
 * Gonnet). A state is the number of characters of its pattern that have matched; it advances if the next character is
 * the expected one, and a `*` lets it stay. The last state of a pattern expects nothing, so matching never runs over
 * into the next pattern.
 */
class Automaton {
  readonly #words: number;
  readonly #begin: Uint32Array;
  readonly #stays: Uint32Array;
  /** The states that advance on any character. */
  readonly #stepsOfAll: Uint32Array;
  /** The states that advance on a character, as a list and, once looked up, as bits. */
  readonly #statesOf = new Map<number, number[]>();
  readonly #stepsOf = new Map<number, Uint32Array>();
  readonly #ends: (readonly [place: number, state: number])[] = [];

  private constructor(states: number) {
    this.#words = (states + 31) >>> 5;
    [this.#begin, this.#stays, this.#stepsOfAll] = [this.#none(), this.#none(), this.#none()];
  }

  static *of(patterns: ReadonlyMap<number, Pattern>): Stepwise<Automaton> {
    let states = 0;
    for (const pattern of patterns.values()) {
      states += fixedLength(pattern) + 1;
      yield pattern.length;
    }
    const automaton = new Automaton(states);
    let state = 0;
    for (const [place, pattern] of patterns) {
      state = automaton.#add(place, pattern, state);
      yield 4 * pattern.length;
    }
    return automaton;
  }

  #add(place: number, pattern: Pattern, first: number): number {
    let state = first;
    mark(this.#begin, state);
    for (const wanted of pattern) {
      if (wanted === anyMany) mark(this.#stays, state);
      else if (wanted === anyOne) mark(this.#stepsOfAll, state++);
      else {
        const states = this.#statesOf.get(wanted);
        if (states) states.push(state++);
        else this.#statesOf.set(wanted, [state++]);
      }
    }
    this.#ends.push([place, state]);
    return state + 1;
  }

  /** Yields steps and returns the indexes of the patterns that match a whole text. */
  *matching(text: Pattern): Stepwise<readonly number[]> {
    const reached = yield* this.#after(text);
    return this.#ends.filter(([, end]) => has(reached, end)).map(([place]) => place);
  }

  /** Tells whether a pattern can match a longer text with this beginning. */
  *isOpenAfter(beginning: Pattern): Stepwise<boolean> {
    const reached = yield* this.#after(beginning);
    // Beyond its last character, a pattern continues only with a `*`.
    for (const [, end] of this.#ends) if (!has(this.#stays, end)) reached[end >>> 5]! &= ~(1 << (end & 31));
    return reached.some((word) => word !== 0);
  }

  /** Returns the states reached at the end of a text. */
  *#after(text: Pattern): Stepwise<Uint32Array> {
    const words = this.#words;
    const [reached, stays, stepsOfAll] = [this.#begin.slice(), this.#stays, this.#stepsOfAll];
    let steps = words;
    for (const character of text) {
      if (this.#mustPrepare(character)) steps += words;
      const own = this.#stepsBy(character);
      let carried = 0;
      for (let word = 0; word < words; word += 1) {
        const before = reached[word]!;
        const stepped = before & (own[word]! | stepsOfAll[word]!);
        reached[word] = (stepped << 1) | carried | (before & stays[word]!);
        carried = stepped >>> 31;
      }
      steps += words;
      if (steps <= stepsAtOnce) continue;
      yield steps;
      steps = 0;
    }
    yield steps;
    return reached;
  }

  #mustPrepare(character: number): boolean {
    return this.#statesOf.has(character) && !this.#stepsOf.has(character);
  }

  #stepsBy(character: number): Uint32Array {
    const states = this.#statesOf.get(character);
    if (states === undefined) return this.#stepsOfAll;
    let steps = this.#stepsOf.get(character);
    if (steps === undefined) {
      if ((this.#stepsOf.size + 1) * this.#words > maxKeptWords) this.#stepsOf.clear();
      steps = this.#none();
      for (const state of states) mark(steps, state);
      this.#stepsOf.set(character, steps);
    }
    return steps;
  }

  #none(): Uint32Array {
    return new Uint32Array(this.#words);
  }
}

function mark(set: Uint32Array, state: number): void {
  set[state >>> 5]! |= 1 << (state & 31);
}

function has(set: Uint32Array, state: number): boolean {
  return ((set[state >>> 5]! >>> (state & 31)) & 1) === 1;
}

/**
 * Tells whether a pattern matches any text with this beginning and at least one more character, in one go: for short
 * beginnings only.
 */
export function canMatchBehind(pattern: Pattern, beginning: Pattern): boolean {
  const automaton = atOnce(Automaton.of(new Map([[0, pattern]])));
  return atOnce(automaton.isOpenAfter(beginning));
}

function fixedLength(pattern: Pattern): number {
  return pattern.reduce((count, one) => (one === anyMany ? count : count + 1), 0);
}
