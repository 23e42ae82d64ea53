import { parseIsoDate } from '../../http/fields/dates.ts';
import type { EventLoopBudget } from '../../ports/event-loop.ts';
import { readAddress, readRange, type AddressRange } from './address-ranges.ts';
import {
  fillTemplates,
  isFixed,
  readTemplate,
  variablesOf,
  type KnownFacts,
  type Template,
} from './policy-template.ts';
import { comparisonsPerStep, codePoints, PatternSet, type Pattern, type Stepwise } from './wildcard.ts';

/** The values that a policy gives to an operator, to be compared with a request's values. */
interface Operands {
  /** True if each value stands for itself, or for a range of addresses; never true for patterns. */
  readonly areFixed: boolean;
  /** The values, if they are ranges of addresses. */
  readonly ranges?: readonly AddressRange[];
  /** The condition keys used as variables in the values. */
  readonly variables: readonly string[];
  /** Tells whether any of them matches a value of the request. @param facts of the variables */
  matchAny(value: string, facts: KnownFacts, budget: EventLoopBudget): boolean | Promise<boolean>;
}

/** A condition operator, without `ForAllValues:`, `ForAnyValue:` and `IfExists`. */
export interface Operator {
  /** True if the operator requires that none of the policy's values matches. */
  readonly negated: boolean;
  /** @param refuse called with a value that is not of the operator's type. @throws S3Error MalformedPolicy */
  read(values: readonly string[], variables: boolean, refuse: (value: string) => never): Operands;
}

type Read = Operator['read'];

/** Returns the operator with this name, or undefined if there is none. */
export function readOperator(name: string): Operator | undefined {
  return operators.get(name);
}

/** The operators, each with the name of its negation, if it has one. */
const table: readonly (readonly [name: string, opposite: string | undefined, read: Read])[] = [
  ['StringEquals', 'StringNotEquals', text({ wildcards: false })],
  ['StringEqualsIgnoreCase', 'StringNotEqualsIgnoreCase', text({ wildcards: false, fold: caseless })],
  ['StringLike', 'StringNotLike', text({ wildcards: true })],
  ['ArnEquals', 'ArnNotEquals', text({ wildcards: true, matching: matchingArns })],
  ['ArnLike', 'ArnNotLike', text({ wildcards: true, matching: matchingArns })],
  ['BinaryEquals', undefined, scalar(readBase64, (value, expected) => value === expected)],
  ['Bool', undefined, scalar(readBoolean, (value, expected) => value === expected)],
  ['IpAddress', 'NotIpAddress', addressRanges],
  ...comparisons('Numeric', readNumber),
  ...comparisons('Date', readDate),
];

const operators: ReadonlyMap<string, Operator> = new Map(
  table.flatMap(([name, opposite, read]): [string, Operator][] => [
    [name, { negated: false, read }],
    ...(opposite === undefined ? [] : [[opposite, { negated: true, read }] satisfies [string, Operator]]),
  ]),
);

interface TextOptions {
  readonly wildcards: boolean;
  readonly fold?: (text: Pattern) => Pattern;
  /**
   * Returns the indexes of the matching patterns. Matching all together takes no longer than matching one pattern of
   * the same total length.
   */
  readonly matching?: (patterns: readonly Pattern[], text: Pattern) => Stepwise<ReadonlySet<number>>;
}

function matchingPatterns(patterns: readonly Pattern[], text: Pattern): Stepwise<ReadonlySet<number>> {
  return new PatternSet(patterns).matching(text);
}

function text({ wildcards, fold = (same) => same, matching = matchingPatterns }: TextOptions): Read {
  const pointsOf = remembering((found) => fold(codePoints(found)));
  function* matchAny(templates: readonly Template[], found: string, facts: KnownFacts): Stepwise<boolean> {
    const patterns = yield* fillTemplates(templates, facts, found.length);
    yield found.length / comparisonsPerStep;
    return (yield* matching(patterns.map(fold), pointsOf(found))).size > 0;
  }
  return (values, variables) => {
    const templates = values.map((value) => readTemplate(value, { variables, wildcards }));
    return {
      areFixed: templates.every(isFixed),
      variables: variablesOf(templates),
      matchAny: (found, facts, budget) => budget.run(matchAny(templates, found, facts)),
    };
  };
}

/** Remembers the last result, since many conditions of a policy may read the same long header. */
function remembering(read: (text: string) => Pattern): (text: string) => Pattern {
  let last: { readonly text: string; readonly points: Pattern } | undefined;
  return (text) => (last = last?.text === text ? last : { text, points: read(text) }).points;
}

function caseless(points: Pattern): Pattern {
  return points.flatMap((point) => (point < 0 ? point : codePoints(String.fromCodePoint(point).toLowerCase())));
}

const colon = codePoints(':')[0]!;

/** Matches each of an ARN's six parts separately: `*` matches a colon in the last part only. */
function* matchingArns(patterns: readonly Pattern[], arn: Pattern): Stepwise<ReadonlySet<number>> {
  const found = arnParts(arn);
  const wanted = patterns.map(arnParts);
  let places = [...wanted.keys()].filter((place) => wanted[place]!.length === 6 && found.length === 6);
  for (const [at, part] of found.entries()) {
    const matching = yield* matchingPatterns(
      places.map((place) => wanted[place]![at]!),
      part,
    );
    places = places.filter((_, index) => matching.has(index));
  }
  return new Set(places);
}

function arnParts(points: Pattern): readonly Pattern[] {
  const parts: Pattern[] = [];
  let at = 0;
  while (parts.length < 5) {
    const end = points.indexOf(colon, at);
    if (end < 0) break;
    parts.push(points.slice(at, end));
    at = end + 1;
  }
  return [...parts, points.slice(at)];
}

/**
 * Creates a reader for values of one type and their comparison. A request's value that is not of the type matches
 * nothing.
 */
function scalar<Value>(
  read: (text: string) => Value | undefined,
  compare: (value: Value, expected: Value) => boolean,
): Read {
  return (values, _, refuse) => {
    const expected = values.map((text) => read(text) ?? refuse(text));
    return {
      areFixed: false,
      variables: [],
      matchAny: (found) => {
        const value = read(found);
        return value !== undefined && expected.some((one) => compare(value, one));
      },
    };
  };
}

function comparisons(
  type: string,
  read: (text: string) => number | undefined,
): readonly (readonly [string, string | undefined, Read])[] {
  return [
    [`${type}Equals`, `${type}NotEquals`, scalar(read, (value, expected) => value === expected)],
    [`${type}LessThan`, undefined, scalar(read, (value, expected) => value < expected)],
    [`${type}LessThanEquals`, undefined, scalar(read, (value, expected) => value <= expected)],
    [`${type}GreaterThan`, undefined, scalar(read, (value, expected) => value > expected)],
    [`${type}GreaterThanEquals`, undefined, scalar(read, (value, expected) => value >= expected)],
  ];
}

function readNumber(text: string): number | undefined {
  return /^[+-]?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? Number(text) : undefined;
}

/** Parses ISO 8601, or seconds since 1970. @returns milliseconds since 1970 */
function readDate(text: string): number | undefined {
  return /^\d{1,11}$/.test(text) ? Number(text) * 1000 : parseIsoDate(text);
}

function readBoolean(text: string): string | undefined {
  const word = text.toLowerCase();
  return word === 'true' || word === 'false' ? word : undefined;
}

function readBase64(text: string): string | undefined {
  return Buffer.from(text, 'base64').toString('base64') === text ? text : undefined;
}

function addressRanges(...[values, , refuse]: Parameters<Read>): Operands {
  const ranges = values.map((text) => readRange(text) ?? refuse(text));
  return {
    areFixed: true,
    ranges,
    variables: [],
    matchAny: (found) => {
      const client = readAddress(found);
      return ranges.some(({ first, bits }) => client?.kind() === first.kind() && client.match([first, bits] as never));
    },
  };
}
