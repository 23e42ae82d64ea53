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

/** How one case on this checkout compares with the base. */
export interface Comparison {
  readonly case: string;
  readonly base: Result;
  readonly here: Result;
  /** This checkout's divided by the base's. */
  readonly ratios: {
    readonly perSecond: number | null;
    readonly p99: number | null;
    readonly processor: number | null;
  };
}

/**
 * Measures the services of two checkouts in one run, in turns: another one, which is removed at the end if it was created, and this directory as it is. Prints a table of
 * Markdown, or JSON. Sets the exit code to 1 if a request failed here, or takes more processor time than `limit` allows.
 */
export async function benchCompare(checkout: Checkout, options: CompareOptions): Promise<void> {
  const { json, workers, limit } = options;
  const chosen = chosenCases(options);
  const withHttps = chosen.some(({ isSecure }) => isSecure);
  const all: Comparison[] = [];
  const servers: BenchServer[] = [];
  try {
    servers.push(await startStillage({ name: checkout.name, root: checkout.directory, workers, withHttps }));
    servers.push(await startStillage({ name: 'here', workers, withHttps }));
    if (!json) console.log(tableHead(['case', checkout.name, 'here', 'rate', 'p99', 'processor time']));
    for await (const { results } of measureCases(servers, chosen, options)) {
      const comparison = comparisonOf(results[0]!, results[1]!);
      all.push(comparison);
      if (!json) console.log(tableRow(cellsOf(comparison)));
    }
  } finally {
    for (const server of servers) await server.stop();
    await checkout.remove();
  }
  if (json) console.log(JSON.stringify(all, undefined, 2));
  else console.log(`\n${remarks(all.flatMap(({ base: one, here }) => [one, here])).join('\n')}`);
  if (all.some((one) => one.here.errors > 0 || (one.ratios.processor ?? 0) > (limit ?? Infinity))) process.exitCode = 1;
}

/** Returns the ratios of two results of one case. */
export function comparisonOf(base: Result, here: Result): Comparison {
  const of = (value: (result: Result) => number | null): number | null =>
    ratio(value(here) ?? undefined, value(base) ?? undefined) ?? null;
  return {
    case: here.case,
    base,
    here,
    ratios: {
      perSecond: of(({ perSecond }) => perSecond),
      p99: of(({ p99 }) => p99),
      processor: of(({ processorMicroseconds }) => processorMicroseconds),
    },
  };
}

function cellsOf({ case: name, base, here, ratios }: Comparison): string[] {
  const shown = [ratios.perSecond, ratios.p99, ratios.processor].map((number) => number?.toFixed(2) ?? '');
  return [name, shownResult(base), shownResult(here), ...shown];
}
