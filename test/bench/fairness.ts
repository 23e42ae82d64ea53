import { fairnessCases } from './requests/cases.ts';
import { measureCases, type MeasuringOptions, type Result } from './requests/measure-cases.ts';
import { remarks, shownResult, tableHead, tableRow } from './requests/report.ts';
import { startStillage } from './requests/servers.ts';
import { ratio } from './requests/statistics.ts';

/** Options of {@link benchFairness}. */
export interface FairnessBenchOptions extends MeasuringOptions {
  readonly workers: number;
  readonly json: boolean;
}

/**
 * Measures how long a GET of 4 KiB takes while many other callers do long-running work: 32 list 1,000 keys, 8 upload 64 MiB, and 8 delete
 * 1,000 keys with one request each; at last all of them at once. Prints a table of Markdown, or JSON.
 */
export async function benchFairness(options: FairnessBenchOptions): Promise<void> {
  const { json, workers } = options;
  const server = await startStillage({ name: 'Stillage', workers, withHttps: false });
  const all: Result[] = [];
  try {
    if (!json) console.log(tableHead(['case', 'rate, p50 / p99, processor time', 'p99 / idle', 'meanwhile']));
    for await (const { case: measured, results } of measureCases([server], fairnessCases, options)) {
      const result = results[0]!;
      all.push(result);
      const slower = ratio(result.p99 ?? undefined, all[0]!.p99 ?? undefined)?.toFixed(1) ?? '';
      if (!json) console.log(tableRow([measured.name, shownResult(result), slower, result.beside ?? '']));
    }
  } finally {
    await server.stop();
  }
  if (json) console.log(JSON.stringify(all, undefined, 2));
  else console.log(`\n${remarks(all).join('\n')}`);
}
