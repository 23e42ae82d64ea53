import type { Contestant } from './contestants.ts';
import { median, medianOfKnown } from './requests/statistics.ts';

/** A piece of work, done so many times by so many callers at once. */
export interface Work {
  readonly name: string;
  readonly callers: number;
  readonly count: number;
  /** The number of bytes that one of them moves, if the rate is in bytes. */
  readonly bytes?: number;
  act(server: Contestant, at: number, round: number): Promise<unknown>;
}

/** One piece of work of one server, in `--json`. */
export interface Result {
  readonly work: string;
  readonly server: string;
  readonly perSecond: number;
  readonly bytesPerSecond: number | null;
  /** Milliseconds of the server's processors for one. */
  readonly processorMilliseconds: number | null;
}

interface Measure {
  readonly perSecond: number;
  /** Milliseconds of the server's processors, for one. */
  readonly processor: number | undefined;
}

/** Does something so many times, by so many callers at once. */
export async function each(count: number, callers: number, act: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function measure(server: Contestant, work: Work, round: number): Promise<Measure> {
  server.reconnect();
  const processorBefore = server.processorTime();
  const started = performance.now();
  await each(work.count, work.callers, (at) => work.act(server, at, round));
  const seconds = (performance.now() - started) / 1000;
  const processorAfter = server.processorTime();
  const used =
    processorBefore === undefined || processorAfter === undefined ? undefined : processorAfter - processorBefore;
  return { perSecond: work.count / seconds, processor: used && used / work.count };
}

/** Measures work in rounds, in each of which the servers take turns. Returns the medians of each server. */
export async function inRounds(
  servers: readonly Contestant[],
  work: Work,
  rounds: number,
): Promise<readonly (Result | undefined)[]> {
  const measures = servers.map((): Measure[] => []);
  // The first round is not counted: the compiler has much to do in it.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, server] of servers.entries()) {
      const measured = await measure(server, work, round);
      if (round > 0) measures[at]!.push(measured);
    }
  }
  return servers.map(({ name }, at) => resultOf(work, name, measures[at]!));
}

function resultOf({ name: work, bytes }: Work, server: string, measures: readonly Measure[]): Result {
  const perSecond = median(measures.map((one) => one.perSecond));
  return {
    work,
    server,
    perSecond,
    bytesPerSecond: bytes === undefined ? null : perSecond * bytes,
    processorMilliseconds: medianOfKnown(measures.map((one) => one.processor)) ?? null,
  };
}

/** Returns a result as the table shows it. */
export function shown(result: Result | undefined): string {
  if (result === undefined) return '-';
  const { perSecond, bytesPerSecond, processorMilliseconds } = result;
  const rate =
    bytesPerSecond === null
      ? `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} /s`
      : `${(bytesPerSecond / 2 ** 20).toFixed(0)} MiB/s`;
  return processorMilliseconds === null ? rate : `${rate}, ${processorMilliseconds.toPrecision(2)} ms`;
}
