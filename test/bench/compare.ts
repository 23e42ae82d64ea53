import type { Checkout } from './requests/checkout.ts';
import { measureCases, type Result } from './requests/measure-cases.ts';
import { remarks, shownResult, tableHead, tableRow } from './requests/report.ts';
import { startStillage, type BenchServer } from './requests/servers.ts';
import { ratio } from './requests/statistics.ts';
import { chosenCases, type CaseBenchOptions } from './requests.ts';

/** Options of {@link benchCompare}. */
export interface CompareOptions extends CaseBenchOptions {
  /** The processor time of a case, relative to the base, above which the exit code is 1. */
  readonly limit?: number;
}

/** How one case on this checkout compares with the base, which runs twice. */
export interface Comparison {
  readonly case: string;
  /** The two runs of the base. */
  readonly bases: readonly [Result, Result];
  readonly here: Result;
  /** This checkout's divided by the mean of the base's two. */
  readonly ratios: Ratios;
  /** The base's second divided by its first: what the same program differs by in this run. */
  readonly noise: Ratios;
}

/** Of one server to another; null: unknown. */
export interface Ratios {
  readonly perSecond: number | null;
  readonly p99: number | null;
  readonly processor: number | null;
}

/**
 * Measures the services of two checkouts in one run, in turns: another one, twice, so that it is seen what the run itself makes of a difference,
 * and this directory as it is. It is started and measured between the two: who comes earlier may find another machine. The other checkout is
 * removed at the end if it was created. Prints a table of Markdown, or JSON. Sets the exit code to 1 if a request failed here, or takes more
 * processor time than `limit` and the noise allow.
 */
export async function benchCompare(checkout: Checkout, options: CompareOptions): Promise<void> {
  const { json, workers, limit } = options;
  const chosen = chosenCases(options);
  const withHttps = chosen.some(({ isSecure }) => isSecure);
  const all: Comparison[] = [];
  const servers: BenchServer[] = [];
  try {
    const base = { root: checkout.directory, workers, withHttps };
    servers.push(await startStillage({ ...base, name: checkout.name }));
    servers.push(await startStillage({ name: 'here', workers, withHttps }));
    servers.push(await startStillage({ ...base, name: `${checkout.name}, again` }));
    if (!json)
      console.log(tableHead(['case', checkout.name, 'here', 'rate', 'p99', 'processor time', 'noise of each']));
    for await (const { results } of measureCases(servers, chosen, options)) {
      const comparison = comparisonOf([results[0]!, results[2]!], results[1]!);
      all.push(comparison);
      if (!json) console.log(tableRow(cellsOf(comparison)));
    }
  } finally {
    for (const server of servers) await server.stop();
    await checkout.remove();
  }
  if (json) console.log(JSON.stringify(all, undefined, 2));
  else console.log(`\n${remarks(all.flatMap(({ bases, here }) => [...bases, here])).join('\n')}`);
  if (all.some((one) => one.here.errors > 0 || isAbove(one, limit ?? Infinity))) process.exitCode = 1;
}

/** Returns the ratios of the results of one case. */
export function comparisonOf(bases: Comparison['bases'], here: Result): Comparison {
  const ratios = (one: Result, others: readonly Result[]): Ratios => {
    const of = (value: (result: Result) => number | null): number | null => {
      const known = others.map(value).filter((number) => number !== null);
      const mean = known.length === 0 ? undefined : known.reduce((sum, number) => sum + number, 0) / known.length;
      return ratio(value(one) ?? undefined, mean) ?? null;
    };
    return {
      perSecond: of(({ perSecond }) => perSecond),
      p99: of(({ p99 }) => p99),
      processor: of(({ processorMicroseconds }) => processorMicroseconds),
    };
  };
  return { case: here.case, bases, here, ratios: ratios(here, bases), noise: ratios(bases[1], [bases[0]]) };
}

/** Whether a case takes more than a multiple of the base's processor time, by more than the base differs from itself. */
export function isAbove({ ratios, noise }: Pick<Comparison, 'ratios' | 'noise'>, limit: number): boolean {
  const own = noise.processor ?? 1;
  return (ratios.processor ?? 0) > limit * Math.max(own, 1 / own);
}

function cellsOf({ case: name, bases, here, ratios, noise }: Comparison): string[] {
  const shown = (of: Ratios): string[] =>
    [of.perSecond, of.p99, of.processor].map((number) => number?.toFixed(2) ?? '');
  return [name, shownResult(bases[0]), shownResult(here), ...shown(ratios), shown(noise).join(', ')];
}
