import { Random } from '../linearizability/random.ts';
import { inputOf } from './inputs.ts';
import { isRefusal, type Parser } from './parsers/parser.ts';

/** An input that a parser did not read as it should. */
interface Failure {
  readonly input: string;
  readonly error: unknown;
}

/** The result of fuzzing a parser. */
export interface Run {
  readonly inputs: number;
  readonly failure: Failure | undefined;
  /** Inputs of which each had another outcome than all before it: those that were kept before, and new ones. */
  readonly corpus: readonly string[];
}

/** An input that is kept is not longer, so that a corpus stays readable. */
const maxKeptLength = 240;
const maxKept = 400;

/** Reads random inputs, and those of the corpus first. Inputs with a new outcome are changed further. */
export async function fuzz(parser: Parser, kept: readonly string[], seed: number, inputs: number): Promise<Run> {
  const random = new Random(seed);
  const corpus: string[] = [];
  const outcomes = new Set<string>();
  for (let count = 0; count < inputs + kept.length; count += 1) {
    const input = kept[count] ?? inputOf(random, parser, corpus);
    const result = tried(parser, input);
    const { outcome, error } = result instanceof Promise ? await result : result;
    if (error !== undefined) return { inputs: count + 1, failure: { input, error }, corpus };
    if (outcomes.has(outcome) || input.length > maxKeptLength || corpus.length >= maxKept) continue;
    outcomes.add(outcome);
    corpus.push(input);
  }
  return { inputs: inputs + kept.length, failure: undefined, corpus };
}

interface Outcome {
  /** Of inputs that go the same way, mostly the same. */
  readonly outcome: string;
  readonly error?: unknown;
}

function tried(parser: Parser, input: string): Outcome | Promise<Outcome> {
  try {
    const result = parser.read(input);
    if (!(result instanceof Promise)) return { outcome: shapeOf(result, 3) };
    return result.then(
      (value: unknown) => ({ outcome: shapeOf(value, 3) }),
      (error: unknown) => refused(parser, error),
    );
  } catch (error) {
    return refused(parser, error);
  }
}

function refused(parser: Parser, error: unknown): Outcome {
  const isExpected = isRefusal(error) || parser.refuses?.(error) === true;
  if (!isExpected) return { outcome: '', error };
  // The quoted parts of a message differ with each input.
  return { outcome: (error as Error).message.replaceAll(/['"`].*['"`]|\d+/gs, '…').slice(0, 80) };
}

/** Returns which values there are, and how many of them, without the texts. */
function shapeOf(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  if (depth === 0) return 'object';
  if (ArrayBuffer.isView(value)) return 'bytes';
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    const some = [...(value as Iterable<unknown>)].slice(0, 3);
    return `[${some.map((one) => shapeOf(one, depth - 1)).join()}]`;
  }
  const entries = Object.entries(value).slice(0, 12);
  return `{${entries.map(([name, one]) => `${name.slice(0, 12)}:${shapeOf(one, depth - 1)}`).join()}}`;
}
