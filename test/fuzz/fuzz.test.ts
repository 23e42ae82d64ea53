import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isShort } from '../support/runs/runs.ts';
import { StepCounter } from '../support/runs/steps.ts';
import { fuzz } from './fuzz.ts';
import { parsers } from './parsers/every-parser.ts';

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** Settable, to try a failure again: TEST_SEED=7. */
const seed = Number(process.env['TEST_SEED'] ?? 1);
const inputs = Number(process.env['TEST_INPUTS'] ?? (isLong ? 250_000 : isShort ? 500 : 4000));
/** Set to add inputs with new outcomes to the corpora. */
const keeps = (process.env['TEST_KEEP'] ?? '') !== '';
const keptOfRun = 24;

const corpusPath = (name: string): string =>
  join(
    import.meta.dirname,
    'corpus',
    `${name
      .toLowerCase()
      .match(/[a-z0-9]+/g)!
      .join('-')}.json`,
  );

/** Inputs that were kept: each had an outcome that none before it had. */
function corpusOf(name: string): string[] {
  try {
    return JSON.parse(readFileSync(corpusPath(name), 'utf8')) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

describe('a parser, of whatever input,', () => {
  let total = 0;
  afterAll(() => console.log(`${total} inputs for ${Object.keys(parsers).length} parsers, seed ${seed}`));

  it.each(Object.entries(parsers))('makes a value or an S3 error: %s', { timeout: 3_600_000 }, async (name, parser) => {
    const run = await fuzz(parser, corpusOf(name), seed, inputs);
    total += run.inputs;
    if (run.failure !== undefined) {
      const { input, error } = run.failure;
      throw new Error(`${name}, seed ${seed}, input ${run.inputs}: ${JSON.stringify(input)}`, { cause: error });
    }
    if (keeps) writeFileSync(corpusPath(name), `${JSON.stringify(run.corpus.slice(0, keptOfRun), undefined, 1)}\n`);
  });
});

/** test/stalls tries the pieces of each parser; these are inputs that fuzzing found. */
describe('the work of reading what fuzzing found', () => {
  const counter = new StepCounter();
  afterAll(() => counter.close());
  const [size, factor] = [1024, 8];

  it.each(Object.entries(parsers))(
    'grows no faster than its length: %s',
    { timeout: 600_000 },
    async (name, parser) => {
      const [before, behind] = parser.around ?? ['', ''];
      for (const input of corpusOf(name).filter(({ length }) => length > 0)) {
        const middle = input.startsWith(before)
          ? input.slice(before.length).slice(0, -behind.length || undefined)
          : input;
        if (middle === '') continue;
        const repeated = (length: number): string =>
          before + middle.repeat(Math.ceil(length / middle.length)).slice(0, length) + behind;
        const attempt = async (text: string): Promise<void> => {
          try {
            await parser.read(text);
          } catch {
            // An input must be refused in linear time, too.
          }
        };
        const few = await counter.count(() => attempt(repeated(size)));
        const many = await counter.count(() => attempt(repeated(size * factor)));
        expect(many, `${JSON.stringify(input)}: ${few} → ${many}`).toBeLessThan(few * factor * 1.5 + 5000);
      }
    },
  );
});
