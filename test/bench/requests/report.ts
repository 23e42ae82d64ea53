import type { Result } from './measure-cases.ts';
import { ratio } from './statistics.ts';

/** Returns a result as one cell of a table: rate, latencies, processor time of one request. */
export function shownResult(result: Result | undefined): string {
  if (result === undefined) return '';
  const { perSecond, bytesPerSecond, p50, p99, processorMicroseconds } = result;
  const rate =
    bytesPerSecond === null
      ? `${perSecond >= 10 ? grouped(perSecond) : perSecond.toFixed(1)} /s`
      : `${grouped(bytesPerSecond / 1e6)} MB/s`;
  const times = p50 === null || p99 === null ? [] : [`${short(p50)} / ${short(p99)} ms`];
  const processor = processorMicroseconds === null ? [] : [`${grouped(processorMicroseconds)} µs`];
  const errors = result.errors === 0 ? [] : [`${result.errors} ERRORS`];
  return [rate, ...times, ...processor, ...errors].join(', ');
}

/** Returns how often one rate is the other's, as text; empty if one is missing. */
export function shownRatio(one: Result | undefined, other: Result | undefined): string {
  return ratio(one?.perSecond, other?.perSecond)?.toFixed(2) ?? '';
}

/** Returns the head of a table of Markdown, two lines. */
export function tableHead(cells: readonly string[]): string {
  return `${tableRow(cells)}\n|${'---|'.repeat(cells.length)}`;
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Returns lines about all results: the share of the generator, memory, errors. */
export function remarks(results: readonly Result[]): string[] {
  const busiest = results.toSorted((a, b) => b.generatorShare - a.generatorShare)[0];
  const generator = busiest && [
    `The load generator used at most ${Math.round(100 * busiest.generatorShare)} % of a processor (${busiest.case}, ${busiest.server}).`,
  ];
  const lastOf = new Map(results.filter(({ memory }) => memory !== null).map((result) => [result.server, result]));
  const memory = [...lastOf.values()].map((one) => `${one.server} ${Math.round(one.memory! / 2 ** 20)} MiB`);
  const failed = results.filter(({ errors }) => errors > 0);
  return [
    ...(generator ?? []),
    ...(memory.length === 0 ? [] : [`Memory at the end, without mapped files: ${memory.join(', ')}.`]),
    ...failed.map((one) => `${one.case}, ${one.server}: ${one.errors} errors; the first: ${one.firstError}`),
  ];
}

/** Returns milliseconds with three digits. */
function short(milliseconds: number): string {
  return milliseconds >= 100 ? grouped(milliseconds) : String(Number(milliseconds.toPrecision(3)));
}

/** Returns a whole number with separators of thousands. */
function grouped(number: number): string {
  return Math.round(number).toLocaleString('en-GB');
}
