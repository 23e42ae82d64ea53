import { atOnce } from '../ports/event-loop.ts';
import type { Stepwise } from './pace.ts';

/** A pattern as code points, with two numbers below zero for the wildcards. */
export type Pattern = readonly number[];

/** `?`: any one character. */
const anyOne = -1;
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

/** Whether a pattern matches a whole text. At once: for a text that is known to be short. */
export function matchesWildcards(pattern: Pattern, text: Pattern): boolean {
  return atOnce(new PatternSet([pattern]).matching(text)).size > 0;
}

/** Steps that are taken before they are told of. */
const stepsAtOnce = 1 << 14;

interface Prepared {
  /** Where its first and its last `*` stand; -1: it has none. */
  readonly first: number;
  readonly last: number;
  /** How many characters there are between those. */
  readonly between: number;
  /** What is between, if it is long and has no `?`: such a pattern is looked for by itself. */
  readonly stretches: readonly Stretch[] | undefined;
}

/** A text without wildcards, to be looked for in others. */
interface Stretch {
  readonly text: Pattern;
  /** For each place of it: how long the longest beginning is that ends there, but for the text itself (Knuth, Morris and Pratt). */
  readonly overlaps: Uint32Array;
}

/** Longer ones take fewer steps by themselves than side by side with others. */
const longBetween = 96;

/**
 * Patterns that are held against one text or many. What stands before the first `*` of a pattern and behind its last one is where it
 * must be; what is between is looked for, for all patterns at once. A text takes at most (all patterns together) × text / 32 steps,
 * and what it takes to read them: both may be written to take long. A long pattern without `?` takes but 3 × (pattern + text).
 */
export class PatternSet {
  readonly #patterns: readonly Pattern[];
  /** Those that were held against a text. */
  readonly #prepared: Prepared[] = [];
  #automaton: Automaton | undefined;

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns;
  }

  /** Which of the patterns match a whole text, by their places. */
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
      const behind = pattern.length - last - 1;
      const end = text.length - behind;
      if (first < 0 ? pattern.length !== text.length : first + between > end) continue;
      const beginning = first < 0 ? pattern.length : first;
      const equal = equalUpTo(pattern, 0, beginning, text, 0);
      steps += equal;
      if (equal < beginning) continue;
      const equalBehind = first < 0 ? behind : equalUpTo(pattern, last + 1, pattern.length, text, end);
      steps += equalBehind;
      if (equalBehind < behind) continue;
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

/** Whether stretches stand one behind the other in a part of a text. Each is taken where it is first, which leaves most for the next. */
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

/** How many characters of a stretch of a pattern, without `*`, fit what stands at a place of a text that is long enough. */
function equalUpTo(pattern: Pattern, from: number, to: number, text: Pattern, at: number): number {
  let index = from;
  while (index < to && (pattern[index] === anyOne || pattern[index] === text[at + index - from])) index += 1;
  return index - from;
}

/** Words of bits that are kept for the characters of texts. */
const maxKeptWords = 1 << 18;

/**
 * The automaton of all patterns side by side, 32 states to a word (the "shift and" of Baeza-Yates and Gonnet): a state says how many
 * characters of its pattern have been matched; the next character leads to the next state where it is the wanted one, and a `*` lets a
 * state stay. The last state of a pattern wants nothing, so none leads over into the next pattern.
 */
class Automaton {
  readonly #words: number;
  readonly #begin: Uint32Array;
  readonly #stays: Uint32Array;
  /** The states from which any character leads on. */
  readonly #stepsOfAll: Uint32Array;
  /** The states from which a character leads on, in a list and, for those that were looked for, as bits. */
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

  /** The places of the patterns that match a whole text. */
  *matching(text: Pattern): Stepwise<readonly number[]> {
    const reached = yield* this.#after(text);
    return this.#ends.filter(([, end]) => has(reached, end)).map(([place]) => place);
  }

  /** Whether a pattern can match a longer text that begins so. */
  *isOpenAfter(beginning: Pattern): Stepwise<boolean> {
    const reached = yield* this.#after(beginning);
    // Past its last character, a pattern goes on only by a star.
    for (const [, end] of this.#ends) if (!has(this.#stays, end)) reached[end >>> 5]! &= ~(1 << (end & 31));
    return reached.some((word) => word !== 0);
  }

  /** The states that are reached at the end of a text. */
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

/** Whether there is a text that begins so, has at least one more character, and matches. At once: for a short beginning. */
export function canMatchBehind(pattern: Pattern, beginning: Pattern): boolean {
  const automaton = atOnce(Automaton.of(new Map([[0, pattern]])));
  return atOnce(automaton.isOpenAfter(beginning));
}

function fixedLength(pattern: Pattern): number {
  return pattern.reduce((count, one) => (one === anyMany ? count : count + 1), 0);
}
