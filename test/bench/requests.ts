import { cases } from './requests/cases.ts';
import { measureCases, type MeasuringOptions, type Result } from './requests/measure-cases.ts';
import { remarks, shownRatio, shownResult, tableHead, tableRow } from './requests/report.ts';
import { runningStore, startBareServer, startStillage, type BenchServer } from './requests/servers.ts';

/** Options of {@link benchRequests} and {@link benchCompare}. */
export interface CaseBenchOptions extends MeasuringOptions {
  /** The cases whose names match; undefined: all. */
  readonly only?: RegExp;
  readonly workers: number;
  readonly json: boolean;
}

/** Options of {@link benchRequests}. */
export interface RequestBenchOptions extends CaseBenchOptions {
  /** Another store, which runs already. */
  readonly endpoint?: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The processes of the other store, for their processor time. */
  readonly pid: readonly number[];
}

/** Returns the cases whose names match. */
export function chosenCases({ only }: Pick<CaseBenchOptions, 'only'>): typeof cases {
  return cases.filter(({ name }) => only?.test(name) ?? true);
}

/**
 * Measures requests to the service, to a bare `node:http` server that does the minimum of a store, and to another store if one is named:
 * rates depend more on the machine than on the service, their ratios within one run do not. Prints a Markdown table, or JSON.
 */
export async function benchRequests(options: RequestBenchOptions): Promise<void> {
  const { endpoint, accessKey, secretKey, pid, json, workers } = options;
  const chosen = chosenCases(options);
  const servers: BenchServer[] = [];
  const all: Result[] = [];
  try {
    const withHttps = chosen.some(({ isSecure }) => isSecure);
    servers.push(await startStillage({ name: 'Stillage', workers, withHttps }), await startBareServer());
    if (endpoint !== undefined) {
      servers.push(runningStore(endpoint, { accessKeyId: accessKey, secretAccessKey: secretKey }, pid));
    }
    const columns = servers.flatMap(({ name }, at) => (at === 0 ? [name] : [name, 'ratio']));
    if (!json) console.log(tableHead(['case: rate, p50 / p99, processor time', ...columns]));
    for await (const { case: measured, results } of measureCases(servers, chosen, options)) {
      all.push(...results.filter((result) => result !== undefined));
      const cells = results.flatMap((result, at) =>
        at === 0 ? [shownResult(result)] : [shownResult(result), shownRatio(results[0], result)],
      );
      if (!json) console.log(tableRow([measured.name, ...cells]));
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  if (json) console.log(JSON.stringify(all, undefined, 2));
  else console.log(`\n${remarks(all).join('\n')}`);
}
